#include "app/cli/command.hpp"
#include "app/cli/message_text.hpp"
#include "app/cli/server_flags.hpp"
#include "base/json_writer.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

class MessagePause final : public Command {
 public:
  std::string_view words() const override { return "message pause"; }
  std::string_view summary() const override { return "Hand out no messages of a topic for now"; }
  std::string notes() const override {
    return "Messages are still taken and kept; what is in somebody's hands may be finished.\n\n"
           "Example:\n  tenure message pause payments --reason \"the bank is closed\"\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"TOPIC", "The topic.", &topic_});
    flags.Add(Flags::Value{"--reason", "TEXT", "Why; `tenure why message` tells it.",
                           Flags::Need::kRequired, &reason_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    std::string body;
    base::JsonWriter json(body);
    json.BeginObject().Field("paused", true).Field("reason", std::string_view(*reason_));
    json.EndObject();
    return server_.Show({http::Method::kPatch, TopicPath(topic_), body}, console,
                        [&](const Answer&) { return config::Printable(topic_) + " is paused\n"; });
  }

 private:
  std::string topic_;
  std::optional<std::string> reason_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeMessagePause() { return std::make_unique<MessagePause>(); }

}  // namespace tenure::app
