#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/session_kind.hpp"
#include "app/cli/session_view.hpp"
#include "app/cli/usage_error.hpp"
#include "base/json_writer.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(A user has at most one active session on a capacity. Asking again for the same or a lower kind
shows the one that exists; a higher kind ends it and starts a new one at the same instant. So
it is safe to repeat this command. A session of the same user in another tenant is a conflict
(exit code 4).

Example:
  tenure session put --user 6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30 \
                     --tenant 0b7e4d11-93c5-4f6a-8a77-2c9d5e3f1b08 \
                     --capacity d4a1f7c3-5b20-4e8d-b6f9-1a3c7e9d5b42 --kind standard
)";

class SessionPut final : public Command {
 public:
  std::string_view words() const override { return "session put"; }
  std::string_view summary() const override {
    return "Give a user a session on a capacity, or upgrade it";
  }
  std::string notes() const override { return std::string(kNotes); }

  void Declare(Flags& flags) override {
    using enum Flags::Need;
    flags.Add(Flags::Value{"--user", "UUID", "Who uses the capacity.", kRequired, &user_});
    flags.Add(Flags::Value{"--tenant", "UUID", "The tenant of that user.", kRequired, &tenant_});
    flags.Add(Flags::Value{"--capacity", "UUID", "What is used.", kRequired, &capacity_});
    flags.Add(Flags::Value{"--kind", "KIND", "1 or basic, 2 or standard, 3 or premium.", kRequired,
                           &kind_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    const Answer answer = server_.Ask(http::Method::kPut, "/sessions", Body());
    if (!answer.ok()) return ReportRefusal(answer, server_.form(), console);
    if (server_.form() == Form::kJson) {
      PrintJson(answer.body, console);
      return kExitDone;
    }
    const SessionView session = ParseSession(answer.body);
    console.out << fmt::format("{:<10}{}\n", "status", config::Printable(session.status))
                << SessionText(session, answer.server_now_ms);
    return kExitDone;
  }

 private:
  std::string Body() const {
    const std::optional<int> kind = ParseSessionKind(*kind_);
    if (!kind)
      throw UsageError(fmt::format("--kind: {} is not 1, 2, 3, basic, standard or premium",
                                   config::Quoted(*kind_)));
    std::string body;
    base::JsonWriter(body)
        .BeginObject()
        .Field("userObjectId", UuidFlag("--user", *user_))
        .Field("tenantObjectId", UuidFlag("--tenant", *tenant_))
        .Field("capacityId", UuidFlag("--capacity", *capacity_))
        .Field("sessionKind", *kind)
        .EndObject();
    return body;
  }

  std::optional<std::string> user_;
  std::optional<std::string> tenant_;
  std::optional<std::string> capacity_;
  std::optional<std::string> kind_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeSessionPut() { return std::make_unique<SessionPut>(); }

}  // namespace tenure::app
