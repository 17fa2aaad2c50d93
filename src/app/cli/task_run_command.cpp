#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/usage_error.hpp"
#include "config/printable.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::app {
namespace {

class TaskRun final : public Command {
 public:
  std::string_view words() const override { return "task run"; }
  std::string_view summary() const override { return "Run a reliable task now"; }
  std::string notes() const override {
    return "It becomes due at once, and the first process that offers to run it does; while a run "
           "goes\non, one more follows it. Exit code 3 when there is no such task.\n\nExample:\n"
           "  tenure task run sessions.expiry\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"NAME", "The task.", &name_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    if (!leases::IsLeaseName(name_))
      throw UsageError(fmt::format("{} is no task's name", config::Quoted(name_)));
    const std::string path = fmt::format("/api/v1/tasks/{}/run", PercentEncoded(name_));
    const Answer answer = server_.Ask(http::Method::kPost, path, "{}");
    if (!answer.ok()) return ReportRefusal(answer, server_.form(), console);
    if (server_.form() == Form::kJson)
      PrintJson(answer.body, console);
    else
      console.out << fmt::format("{} will run; `tenure task list` shows it\n", name_);
    return kExitDone;
  }

 private:
  std::string name_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeTaskRun() { return std::make_unique<TaskRun>(); }

}  // namespace tenure::app
