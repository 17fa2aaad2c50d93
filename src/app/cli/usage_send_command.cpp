#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/json_row.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/usage_filter.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(For windows that were closed before usage.endpoint was set. What was sent already is not sent
again, and a receiver that gets a record twice knows it by its recordId.

Example:
  tenure usage send --from 1
)";

class UsageSend final : public Command {
 public:
  std::string_view words() const override { return "usage send"; }
  std::string_view summary() const override { return "Send older windows to the receiver"; }
  std::string notes() const override { return std::string(kNotes); }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Value{"--from", "WINDOW", "The first window to send.", Flags::Need::kRequired,
                           &from_});
    server_.Declare(flags);
  }
  int Run(Console& console) override {
    const std::string body =
        fmt::format(R"({{"fromWindow":{}}})", WindowFlag("--from", from_.value_or("")));
    return server_.Show({.method = http::Method::kPost, .path = "/usage/send", .json_body = body},
                        console, [](const Answer& answer) {
                          return fmt::format(
                              "{} windows will be sent; `tenure usage windows` shows them\n",
                              JsonRow::Parse(answer.body).Number("windows"));
                        });
  }

 private:
  std::optional<std::string> from_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeUsageSend() { return std::make_unique<UsageSend>(); }

}  // namespace tenure::app
