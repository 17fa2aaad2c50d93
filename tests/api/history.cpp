#include "api/history.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "api/api.hpp"

namespace tenure::api {
namespace {

std::string Describe(const SessionRow& row) {
  return "session " + row.id + " (turn " + std::to_string(row.turn) + ", kind " +
         std::to_string(row.kind) + ", " + TimeText(row.start_ms) + " to " + TimeText(row.end_ms) +
         ", end reason " + std::to_string(row.end_reason) + ")";
}

void CheckPair(const SessionRow& before, const SessionRow& after,
               std::vector<std::string>& contradictions) {
  const auto say = [&](const std::string& what) {
    contradictions.push_back(Describe(before) + " and " + Describe(after) + ": " + what);
  };
  if (before.IsOpen()) say("the earlier one is open");
  if (after.turn != before.turn + 1) say("a turn is missing or doubled");
  if (before.end_ms > after.start_ms) say("they overlap");
  if (before.end_reason != 1) return;
  if (before.end_ms != after.start_ms) say("an upgrade left a gap");
  if (before.kind >= after.kind) say("an upgrade did not raise the kind");
}

}  // namespace

std::vector<std::string> Contradictions(std::vector<SessionRow> rows) {
  std::map<std::pair<std::string, std::string>, std::vector<SessionRow>> keys;
  for (SessionRow& row : rows) keys[{row.user, row.capacity}].push_back(std::move(row));
  std::vector<std::string> contradictions;
  for (auto& [key, sessions] : keys) {
    std::ranges::sort(sessions, {}, &SessionRow::turn);
    if (sessions.front().turn != 1)
      contradictions.push_back(Describe(sessions.front()) + " is the first of its key");
    if (sessions.back().end_reason == 1)
      contradictions.push_back(Describe(sessions.back()) + " was upgraded to nothing");
    for (std::size_t i = 1; i < sessions.size(); ++i)
      CheckPair(sessions[i - 1], sessions[i], contradictions);
  }
  return contradictions;
}

SessionRow FromJson(const support::Json& session) {
  SessionRow row;
  row.id = session["sessionId"].Text();
  row.tenant = session["tenantObjectId"].Text();
  row.user = session["userObjectId"].Text();
  row.capacity = session["capacityId"].Text();
  row.kind = session["sessionKind"].Int();
  row.start_ms = TimeMs(session["sessionStartUtc"].Text());
  row.end_ms = TimeMs(session["sessionEndUtc"].Text());
  if (session.Has("endReason")) {
    const std::string reason = session["endReason"].Text();
    row.end_reason = reason == "upgraded" ? 1 : reason == "deleted" ? 2 : 3;
  }
  return row;
}

}  // namespace tenure::api
