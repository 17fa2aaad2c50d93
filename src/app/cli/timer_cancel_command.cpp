#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/message_text.hpp"
#include "app/cli/server_flags.hpp"

namespace tenure::app {
namespace {

class TimerCancel final : public Command {
 public:
  std::string_view words() const override { return "timer cancel"; }
  std::string_view summary() const override { return "Take a timer back before it fires"; }
  std::string notes() const override {
    return "Exit code 4 when it has fired already, 3 when there is no such timer.\n\n"
           "Example:\n  tenure timer cancel 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"ID", "The timer.", &id_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    const Answer answer = server_.Ask(http::Method::kDelete, TimerPath(id_));
    if (!answer.ok()) return ReportRefusal(answer, server_.form(), console);
    if (server_.form() == Form::kTable) console.out << "cancelled\n";
    return kExitDone;
  }

 private:
  std::string id_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeTimerCancel() { return std::make_unique<TimerCancel>(); }

}  // namespace tenure::app
