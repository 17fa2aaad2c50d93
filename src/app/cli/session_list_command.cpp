#include <utility>

#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/page_flags.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/session_list_output.hpp"
#include "app/cli/usage_error.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(Sessions come in the order of their start. A column that a flag already fixes is not repeated.

Examples:
  tenure session list --active true
  tenure session list --user 6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30 --all
  tenure session list --all --json | jq -r '.items[].sessionId'
)";

class SessionList final : public Command {
 public:
  std::string_view words() const override { return "session list"; }
  std::string_view summary() const override { return "List sessions"; }
  std::string notes() const override { return std::string(kNotes); }

  void Declare(Flags& flags) override {
    using enum Flags::Need;
    flags.Add(Flags::Value{"--user", "UUID", "Only those of this user.", kOptional, &user_});
    flags.Add(Flags::Value{"--tenant", "UUID", "Only those of this tenant.", kOptional, &tenant_});
    flags.Add(
        Flags::Value{"--capacity", "UUID", "Only those on this capacity.", kOptional, &capacity_});
    flags.Add(Flags::Value{"--active", "true|false", "Only those that are active, or that are not.",
                           kOptional, &active_});
    pages_.Declare(flags);
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    const std::string filter = Filter();
    const SessionColumns fixed = FixedColumns();
    ListOutput output(server_.form(), SessionListShape(fixed), console);
    return pages_.Print(
        server_, "/sessions", filter, output, console,
        [&](const Answer& answer) -> PageFlags::Page {
          SessionPage page = ParseSessionPage(answer.body);
          return {SessionRows(page, fixed, answer.server_now_ms), std::move(page.next_cursor)};
        });
  }

 private:
  SessionColumns FixedColumns() const {
    return {.user = user_.has_value(),
            .tenant = tenant_.has_value(),
            .capacity = capacity_.has_value()};
  }

  /// The query that all pages share.
  std::string Filter() const {
    std::string query;
    const auto add_id = [&](std::string_view flag, std::string_view field,
                            const std::optional<std::string>& text) {
      if (text) query += fmt::format("&{}={}", field, UuidFlag(flag, *text).ToString());
    };
    add_id("--user", "userObjectId", user_);
    add_id("--tenant", "tenantObjectId", tenant_);
    add_id("--capacity", "capacityId", capacity_);
    if (active_ && *active_ != "true" && *active_ != "false")
      throw UsageError(fmt::format("--active: {} is not true or false", config::Quoted(*active_)));
    if (active_) query += fmt::format("&active={}", *active_);
    return query;
  }

  std::optional<std::string> user_;
  std::optional<std::string> tenant_;
  std::optional<std::string> capacity_;
  std::optional<std::string> active_;
  PageFlags pages_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeSessionList() { return std::make_unique<SessionList>(); }

}  // namespace tenure::app
