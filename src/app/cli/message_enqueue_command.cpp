#include "app/cli/command.hpp"
#include "app/cli/json_row.hpp"
#include "app/cli/new_message_flags.hpp"
#include "app/cli/server_flags.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(Prints the message's id. With --dedup-key a second one within the topic's time (10 minutes)
is not enqueued, and the earlier one's id is printed.

Example:
  tenure message enqueue orders '{"order": 7}' --priority 1
)";

class MessageEnqueue final : public Command {
 public:
  std::string_view words() const override { return "message enqueue"; }
  std::string_view summary() const override { return "Put a message in"; }
  std::string notes() const override { return std::string(kNotes); }
  void Declare(Flags& flags) override {
    message_.Declare(flags);
    flags.Add(Flags::Value{"--dedup-key", "TEXT", "Only once within the topic's time.",
                           Flags::Need::kOptional, &dedup_key_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    return server_.Show(
        {http::Method::kPost, "/api/v1/messages", message_.Body(dedup_key_)}, console,
        [](const Answer& answer) { return JsonRow::Parse(answer.body).Cell("id") + "\n"; });
  }

 private:
  NewMessageFlags message_;
  std::optional<std::string> dedup_key_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeMessageEnqueue() { return std::make_unique<MessageEnqueue>(); }

}  // namespace tenure::app
