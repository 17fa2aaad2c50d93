#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/json_row.hpp"
#include "app/cli/message_text.hpp"
#include "app/cli/server_flags.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

class WhyMessage final : public Command {
 public:
  std::string_view words() const override { return "why message"; }
  std::string_view summary() const override { return "Say what a message waits for"; }
  std::string notes() const override {
    return "Where it is, who has it, what it waits for and until when. Exit code 3 when there is "
           "no such\n"
           "message: it is done, or was never enqueued. With --json the whole message.\n\n"
           "Example:\n  tenure why message 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"ID", "The message.", &id_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    return server_.Show({.path = MessagePath(id_)}, console, [](const Answer& answer) {
      const JsonRow message = JsonRow::Parse(answer.body);
      return config::Printable(fmt::format("{} ({}): {}", message.Text("topic"),
                                           message.Text("state"), message.Text("why"))) +
             "\n";
    });
  }

 private:
  std::string id_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeWhyMessage() { return std::make_unique<WhyMessage>(); }

}  // namespace tenure::app
