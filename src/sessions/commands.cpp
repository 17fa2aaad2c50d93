#include <fmt/format.h>

#include "base/time_text.hpp"
#include "cli/question.hpp"
#include "sessions/capability.hpp"
#include "sessions/session_kind.hpp"

namespace tenure::sessions {
namespace {

using cli::JsonRow;
using std::string_view;
using Now = std::optional<std::int64_t>;

/// "29d 23h", or "active" when the server's time is not known; nothing of one that has ended.
std::string Left(const JsonRow& session, string_view field, Now now_ms) {
  if (!session.Bool("isActive")) return {};
  const std::int64_t end_ms = session.TimeMs(field);
  return now_ms ? base::SpanText(end_ms - *now_ms) : "active";
}

/// "ended (expired)"; nothing of one that is active.
std::string Ended(const JsonRow& session, string_view field, Now) {
  if (session.Bool("isActive")) return {};
  const std::string reason = session.Text(field);
  return reason.empty() ? "ended" : fmt::format("ended ({})", reason);
}

/// In a table: what is left, or how it ended.
std::string LeftOrEnd(const JsonRow& session, string_view field, Now now_ms) {
  if (session.Bool("isActive")) return Left(session, field, now_ms);
  const std::string reason = session.Text("endReason");
  return reason.empty() ? "ended" : reason;
}

constexpr string_view kPutNotes =
    R"(A user has at most one active session on a capacity. Asking again for the same or a lower kind
shows the one that exists; a higher kind ends it and starts a new one at the same instant. So
it is safe to repeat this command. A session of the same user in another tenant is a conflict
(exit code 4).

Example:
  tenure session put --user 6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30 \
                     --tenant 0b7e4d11-93c5-4f6a-8a77-2c9d5e3f1b08 \
                     --capacity d4a1f7c3-5b20-4e8d-b6f9-1a3c7e9d5b42 --kind standard
)";

constexpr string_view kListNotes =
    R"(Sessions come in the order of their start. LEFT is how long it lasts, or how it ended. The table
fits 100 columns: a column that a flag already fixes makes room for another one, and
`tenure session get ID` and --json tell everything.

Examples:
  tenure session list --active true
  tenure session list --user 6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30 --all
  tenure session list --all --json | jq -r '.items[].sessionId'
)";

cli::Print SessionBlock() {
  return cli::Block(10, {{"status", "status"},
                         {"session", "sessionId"},
                         {"kind", "sessionKind", KindCell},
                         {"user", "userObjectId"},
                         {"tenant", "tenantObjectId"},
                         {"capacity", "capacityId"},
                         {"start", "sessionStartUtc"},
                         {"end", "sessionEndUtc"},
                         {"left", "sessionEndUtc", Left},
                         {"state", "endReason", Ended},
                         {"replaces", "previousSessionId"}});
}

}  // namespace

cli::Commands Commands() {
  using namespace cli;  // the words of its tables
  return {
      Asking(
          {.words = "session put",
           .summary = "Give a user a session on a capacity, or upgrade it",
           .notes = std::string(kPutNotes),
           .flags =
               {Required("--user", "UUID", "Who uses the capacity.", Uuid).As("userObjectId"),
                Required("--tenant", "UUID", "The tenant of that user.", Uuid).As("tenantObjectId"),
                Required("--capacity", "UUID", "What is used.", Uuid).As("capacityId"),
                Required("--kind", "KIND", "1 or basic, 2 or standard, 3 or premium.", KindNumber)
                    .AsJson("sessionKind")},
           .method = http::Method::kPut,
           .path = "/sessions",
           .print = SessionBlock()}),
      Asking({.words = "session get",
              .summary = "Show one session",
              .notes = "Exit code 3 when there is no such session.\n\nExample:\n"
                       "  tenure session get 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81\n",
              .flags = {Argument("ID", "The session.", Uuid)},
              .path = "/sessions/{ID}",
              .print = SessionBlock()}),
      Listing(
          {.words = "session list",
           .summary = "List sessions",
           .notes = std::string(kListNotes),
           .flags =
               {Value("--user", "UUID", "Only those of this user.", Uuid).As("userObjectId"),
                Value("--tenant", "UUID", "Only those of this tenant.", Uuid).As("tenantObjectId"),
                Value("--capacity", "UUID", "Only those on this capacity.", Uuid).As("capacityId"),
                Value("--active", "true|false", "Only those that are active, or that are not.",
                      Word)
                    .As("active"),
                Value("--order", "asc|desc", "The oldest first, or the newest [asc].", Word)
                    .As("order")},
           .path = "/sessions",
           .columns = {{"SESSION", 36, "sessionId"},
                       {"KIND", 10, "sessionKind", KindCell},
                       {"LEFT", 10, "sessionEndUtc", LeftOrEnd},
                       {"USER", 36, "userObjectId", Plain, "--user", true},
                       {"CAPACITY", 36, "capacityId", Plain, "--capacity", true},
                       {"TENANT", 36, "tenantObjectId", Plain, "--tenant", true},
                       {"START", 24, "sessionStartUtc", Plain, {}, true}},
           .nothing = "no sessions",
           .cursor_field = "nextCursor"}),
      Asking({.words = "session end",
              .summary = "End a session now",
              .notes = "Ending a session that has ended already changes nothing and is no error. "
                       "Exit code 3 when\nthere is no such session. With --json nothing is "
                       "printed: the exit code says it all.\n\nExample:\n"
                       "  tenure session end 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81\n",
              .flags = {Argument("ID", "The session.", Uuid)},
              .method = http::Method::kDelete,
              .on_record = true,
              .path = "/sessions/{ID}",
              .print = Sentence("session {ID} has ended")}),
      Asking({.words = "why session",
              .summary = "Say who has a capacity, since when, until when",
              .notes = "Or how that ended. Exit code 3 when there is no such session.\n\nExample:\n"
                       "  tenure why session 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81\n",
              .flags = {Argument("ID", "The session.", Uuid)},
              .path = "/api/v1/why/session/{ID}",
              .print = Explained(),
              .part = Part::kExplain})};
}

}  // namespace tenure::sessions
