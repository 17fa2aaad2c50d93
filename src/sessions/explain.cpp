#include "sessions/explain.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace tenure::sessions {
namespace {

using base::UtcText;
using explain::Explanation;

std::string_view NameOf(Kind kind) {
  switch (kind) {
    case Kind::kBasic:
      return "a basic";
    case Kind::kStandard:
      return "a standard";
    case Kind::kPremium:
      break;
  }
  return "a premium";
}

std::string SpanTo(std::int64_t from_ms, std::int64_t to_ms) {
  return base::SpanText(std::max<std::int64_t>(0, to_ms - from_ms));
}

void ExplainActive(Explanation& out, const Session& session, std::int64_t now_ms) {
  out.state = "active";
  out.Because({.code = "active",
               .text = fmt::format("User {} has {} session on capacity {} since {} ({} ago).",
                                   session.key.user.ToString(), NameOf(session.kind),
                                   session.key.capacity.ToString(), UtcText(session.start_ms),
                                   SpanTo(session.start_ms, now_ms)),
               .since_ms = session.start_ms,
               .until_ms = session.end_ms});
  out.next = {fmt::format("It ends at {} (in {}), or when a session of a higher kind takes its "
                          "place.",
                          UtcText(session.end_ms), SpanTo(now_ms, session.end_ms)),
              session.end_ms};
  out.actions = {{.act = "session.end",
                  .title = "End the session",
                  .scope = "sessions:write",
                  .danger = true,
                  .method = "DELETE",
                  .path = "/sessions/" + session.id.ToString(),
                  .command = "tenure session end " + session.id.ToString()}};
}

std::string HowItEnded(const Session& session, EndReason reason) {
  const std::string at = UtcText(session.end_ms);
  switch (reason) {
    case EndReason::kUpgraded:
      return fmt::format("It ended at {}: a session of a higher kind took its place.", at);
    case EndReason::kDeleted:
      return fmt::format("It ended at {}: somebody ended it.", at);
    case EndReason::kExpired:
      break;
  }
  return fmt::format("It ended at {}: its time was over.", at);
}

}  // namespace

Explanation Explain(const Session& session, std::int64_t now_ms) {
  Explanation out{.kind = "session", .id = session.id.ToString(), .docs = "docs/sessions.md"};
  const auto reason = session.ReasonAt(now_ms);
  if (!reason) {
    ExplainActive(out, session, now_ms);
    return out;
  }
  out.state = "ended";
  out.Because(
      {.code = ToText(*reason), .text = HowItEnded(session, *reason), .since_ms = session.end_ms});
  out.Because({.code = "was",
               .text = fmt::format("User {} had {} session on capacity {} from {} ({}).",
                                   session.key.user.ToString(), NameOf(session.kind),
                                   session.key.capacity.ToString(), UtcText(session.start_ms),
                                   SpanTo(session.start_ms, session.end_ms)),
               .since_ms = session.start_ms,
               .until_ms = session.end_ms});
  out.next = {"The next PUT for this user and capacity begins another one, if none is active.", 0};
  return out;
}

}  // namespace tenure::sessions
