#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/server_flags.hpp"

namespace tenure::app {
namespace {

class SessionEnd final : public Command {
 public:
  std::string_view words() const override { return "session end"; }
  std::string_view summary() const override { return "End a session now"; }
  std::string notes() const override {
    return "Ending a session that has ended already changes nothing and is no error. Exit code 3 "
           "when\nthere is no such session. With --json nothing is printed: the exit code says "
           "it all.\n\nExample:\n  tenure session end 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"ID", "The session.", &id_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    const std::string id = UuidFlag("ID", id_).ToString();
    const Answer answer = server_.Ask(http::Method::kDelete, "/sessions/" + id);
    if (!answer.ok()) return ReportRefusal(answer, server_.form(), console);
    if (server_.form() == Form::kTable) console.out << fmt::format("session {} has ended\n", id);
    return kExitDone;
  }

 private:
  std::string id_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeSessionEnd() { return std::make_unique<SessionEnd>(); }

}  // namespace tenure::app
