#include "app/cli/command.hpp"
#include "app/cli/message_text.hpp"
#include "app/cli/server_flags.hpp"

namespace tenure::app {
namespace {

class MessageShow final : public Command {
 public:
  std::string_view words() const override { return "message show"; }
  std::string_view summary() const override { return "Show one message, whole"; }
  std::string notes() const override {
    return "Exit code 3 when there is no such message: it is done, or was never enqueued.\n\n"
           "Example:\n  tenure message show 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"ID", "The message.", &id_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    return server_.Show({.path = MessagePath(id_)}, console, MessageText);
  }

 private:
  std::string id_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeMessageShow() { return std::make_unique<MessageShow>(); }

}  // namespace tenure::app
