#include <utility>

#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/session_list_output.hpp"
#include "app/cli/usage_error.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

constexpr int kMostPerPage = 1'000;  // what the server allows

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
    flags.Add(Flags::Value{"--limit", "N", "How many at a time, 1 to 1000 [100, 1000 with --all].",
                           kOptional, &limit_});
    flags.Add(
        Flags::Value{"--cursor", "TEXT", "Go on where another list ended.", kOptional, &cursor_});
    flags.Add(Flags::Switch{"--all", "All of them, page after page.", &all_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    const std::string filter = Filter();
    SessionListOutput output(server_.form(), FixedColumns(), console);
    std::optional<std::string> cursor = cursor_;
    while (true) {
      const Answer answer = server_.Ask(http::Method::kGet, Path(filter, cursor));
      if (!answer.ok()) return ReportRefusal(answer, server_.form(), console);
      SessionPage page = ParseSessionPage(answer.body);
      output.Add(page, answer.server_now_ms);
      if (!all_ || !page.next_cursor) {
        output.End(page.next_cursor);
        return kExitDone;
      }
      if (page.items.empty() || page.next_cursor == cursor)
        throw base::UserError("the server's list does not come to an end");
      cursor = std::move(page.next_cursor);
    }
  }

 private:
  SessionColumns FixedColumns() const {
    return {.user = user_.has_value(),
            .tenant = tenant_.has_value(),
            .capacity = capacity_.has_value()};
  }

  /// The query that all pages share.
  std::string Filter() const {
    std::string query = fmt::format("limit={}", Limit());
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

  int Limit() const {
    if (!limit_) return all_ ? kMostPerPage : 100;
    return NumberFlag("--limit", *limit_, {.least = 1, .most = kMostPerPage});
  }

  static std::string Path(const std::string& filter, const std::optional<std::string>& cursor) {
    return fmt::format("/sessions?{}{}", filter,
                       cursor ? fmt::format("&cursor={}", PercentEncoded(*cursor)) : "");
  }

  std::optional<std::string> user_;
  std::optional<std::string> tenant_;
  std::optional<std::string> capacity_;
  std::optional<std::string> active_;
  std::optional<std::string> limit_;
  std::optional<std::string> cursor_;
  bool all_ = false;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeSessionList() { return std::make_unique<SessionList>(); }

}  // namespace tenure::app
