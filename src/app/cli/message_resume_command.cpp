#include "app/cli/command.hpp"
#include "app/cli/message_text.hpp"
#include "app/cli/server_flags.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

class MessageResume final : public Command {
 public:
  std::string_view words() const override { return "message resume"; }
  std::string_view summary() const override {
    return "Hand out the messages of a paused topic again";
  }
  std::string notes() const override { return "Example:\n  tenure message resume payments\n"; }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"TOPIC", "The topic.", &topic_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    return server_.Show({http::Method::kPatch, TopicPath(topic_), R"({"paused":false})"}, console,
                        [&](const Answer&) { return config::Printable(topic_) + " goes on\n"; });
  }

 private:
  std::string topic_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeMessageResume() { return std::make_unique<MessageResume>(); }

}  // namespace tenure::app
