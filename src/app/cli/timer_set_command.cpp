#include "app/cli/command.hpp"
#include "app/cli/json_row.hpp"
#include "app/cli/new_message_flags.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/usage_error.hpp"

namespace tenure::app {
namespace {

class TimerSet final : public Command {
 public:
  std::string_view words() const override { return "timer set"; }
  std::string_view summary() const override { return "Enqueue a message for later"; }
  std::string notes() const override {
    return "Prints the timer's id, which is the message's id too.\n\nExample:\n"
           "  tenure timer set reminders '{\"invoice\": 7}' --delay 30d\n";
  }
  void Declare(Flags& flags) override {
    message_.Declare(flags);
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    if (!message_.SaysWhen()) throw UsageError("--due or --delay must say when");
    return server_.Show(
        {http::Method::kPost, "/api/v1/timers", message_.Body()}, console,
        [](const Answer& answer) { return JsonRow::Parse(answer.body).Cell("id") + "\n"; });
  }

 private:
  NewMessageFlags message_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeTimerSet() { return std::make_unique<TimerSet>(); }

}  // namespace tenure::app
