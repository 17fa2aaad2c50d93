#include "app/cli/command.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/session_view.hpp"

namespace tenure::app {
namespace {

class SessionGet final : public Command {
 public:
  std::string_view words() const override { return "session get"; }
  std::string_view summary() const override { return "Show one session"; }
  std::string notes() const override {
    return "Exit code 3 when there is no such session.\n\nExample:\n"
           "  tenure session get 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"ID", "The session.", &id_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    const std::string path = "/sessions/" + UuidFlag("ID", id_).ToString();
    return server_.Show({.path = path}, console, [](const Answer& answer) {
      return SessionText(ParseSession(answer.body), answer.server_now_ms);
    });
  }

 private:
  std::string id_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeSessionGet() { return std::make_unique<SessionGet>(); }

}  // namespace tenure::app
