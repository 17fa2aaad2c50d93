#include "app/cli/command.hpp"
#include "app/cli/message_text.hpp"
#include "app/cli/server_flags.hpp"

namespace tenure::app {
namespace {

class TimerShow final : public Command {
 public:
  std::string_view words() const override { return "timer show"; }
  std::string_view summary() const override { return "Show a timer, and whether it has fired"; }
  std::string notes() const override {
    return "Exit code 3 when there is no such timer: it was cancelled, or its message is done.\n\n"
           "Example:\n  tenure timer show 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"ID", "The timer.", &id_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    return server_.Show({.path = TimerPath(id_)}, console, MessageText);
  }

 private:
  std::string id_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeTimerShow() { return std::make_unique<TimerShow>(); }

}  // namespace tenure::app
