#include "sim/usage_book.hpp"

#include <algorithm>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace tenure::sim {
namespace {

__extension__ using Int128 = __int128;

constexpr std::int64_t kUnitMs = 30LL * 24 * 60 * 60 * 1'000;
// As the tables have them.
constexpr int kExpired = 3;
constexpr int kClosed = 1;  ///< nobody is told
constexpr int kEmitted = 3;

std::int64_t Number(const std::string& text) { return std::stoll(text); }

std::string WithoutDashes(std::string text) {
  std::erase(text, '-');
  return text;
}

/// The value of a field of a flat JSON object; text without its quotes.
std::string FieldOf(const std::string& record, std::string_view name) {
  const std::string wanted = fmt::format("\"{}\":", name);
  const auto at = record.find(wanted);
  if (at == std::string::npos) return "";
  const auto from = at + wanted.size();
  std::string value = record.substr(from, record.find_first_of(",}", from) - from);
  std::erase(value, '"');
  return value;
}

/// [{…},{…}]: the objects are flat.
std::vector<std::string> RecordsOf(const std::string& body) {
  std::vector<std::string> records;
  for (std::size_t at = body.find('{'); at != std::string::npos; at = body.find('{', at + 1))
    records.push_back(body.substr(at, body.find('}', at) + 1 - at));
  return records;
}

/// "0.001234" is 1234: exactly six places.
std::int64_t MicrosOf(std::string text) {
  const auto point = text.find('.');
  if (point == std::string::npos || text.size() - point != 7) return -1;
  text.erase(point, 1);
  return Number(text);
}

/// Whether the one is the other, or was made of it: "3" of "3.0", not "3" of "31".
bool IsPartOf(const std::string& part, const std::string& whole) {
  return part == whole || part.starts_with(whole + ".");
}

/// "2025-12-21T10:00:00.100Z" for a time.
std::string TimeText(std::int64_t ms) {
  return fmt::format("{:%FT%T}.{:03}Z", fmt::gmtime(ms / 1'000), ms % 1'000);
}

}  // namespace

void UsageBook::Committed(const std::set<std::string, std::less<>>& queries) {
  const auto ran = [&](std::initializer_list<std::string_view> names) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return queries.contains(name); });
  };
  const auto windows_before = windows_;
  if (ran({"usage.insert_window", "usage.advance_window", "usage.reopen_windows"})) LookAtWindows();
  if (ran({"usage.insert_chunks", "usage.delete_chunks"})) LookAtChunks(windows_before);
  if (ran({"sessions.start_sessions", "sessions.end_sessions", "sessions.expire",
           "sessions.delete_old"}))
    LookAtSessions();
  if (ran({"usage.put_factors"})) LookAtFactors();
}

std::int64_t UsageBook::SealedMs() {
  return tables_.Number("select sealed_ms from " + tables_.Table("session_bounds"));
}

void UsageBook::LookAtSessions() {
  const store::Rows rows = tables_.Ask(
      fmt::format("select {}, {}, {}, {}, kind, start_ms, end_ms, coalesce(end_reason, 0) from {}",
                  tables_.Id("id"), tables_.Id("tenant"), tables_.Id("user_id"),
                  tables_.Id("capacity_id"), tables_.Table("sessions")));
  std::map<std::string, Session> now;
  for (const auto& row : rows)
    now[row[0]] = {.tenant = row[1],
                   .user = row[2],
                   .capacity = row[3],
                   .kind = static_cast<int>(Number(row[4])),
                   .start_ms = Number(row[5]),
                   .end_ms = Number(row[6]),
                   .end_reason = static_cast<int>(Number(row[7]))};
  for (const auto& [id, session] : now) {
    const auto known = sessions_.find(id);
    if (known == sessions_.end()) {
      // As if it had been there, open, from its start on: what is new is its start and its end.
      Session born = session;
      born.end_reason = 0;
      if (session.start_ms < SealedMs())
        complain_(fmt::format("U1: session {} started at {} in a window that was closed", id,
                              session.start_ms));
      CheckChange(id, born, session);
    } else if (known->second != session) {
      CheckChange(id, known->second, session);
    }
  }
  for (auto& [id, session] : sessions_)
    if (!session.removed && !now.contains(id)) {
      CheckRemoved(id, session);
      now[id] = session;
      now[id].removed = true;
    } else if (session.removed) {
      now[id] = session;
    }
  sessions_ = std::move(now);
}

void UsageBook::CheckChange(const std::string& id, const Session& before, const Session& after) {
  if (before == after) return;
  Session ended = before;
  ended.end_ms = after.end_ms;
  ended.end_reason = after.end_reason;
  if (before.end_reason != 0 || ended != after || after.end_ms > before.end_ms)
    return complain_(fmt::format("an ended session, or more than the end, changed: {}", id));
  if (after.end_reason == kExpired && after.end_ms != before.end_ms)
    return complain_(fmt::format("expiry moved the end of session {}", id));
  if (after.end_reason != kExpired && after.end_ms < SealedMs())
    complain_(
        fmt::format("U1: session {} ended at {} in a window that was closed", id, after.end_ms));
}

void UsageBook::CheckRemoved(const std::string& id, const Session& session) {
  if (session.end_ms > SealedMs())
    complain_(fmt::format("U1: session {} was removed before its last window was closed", id));
  for (const auto& [number, window] : windows_)
    if (window.state != kClosed && IsActiveIn(session, window) && !applied_.contains({number, id}))
      complain_(fmt::format("U1: session {} was removed, and record {}-{} was not taken", id,
                            number, id));
}

void UsageBook::LookAtWindows() {
  const store::Rows rows = tables_.Ask(fmt::format(
      "select number, start_ms, end_ms, state, chunks from {}", tables_.Table("usage_windows")));
  for (const auto& row : rows) {
    const Window window{Number(row[1]), Number(row[2]), static_cast<int>(Number(row[3])),
                        Number(row[4])};
    const auto known = windows_.find(Number(row[0]));
    if (known != windows_.end() &&
        (known->second.start_ms != window.start_ms || known->second.end_ms != window.end_ms))
      complain_(fmt::format("U1: window {} moved", row[0]));
    windows_[Number(row[0])] = window;
  }
}

void UsageBook::LookAtChunks(const std::map<std::int64_t, Window>& windows_before) {
  std::map<ChunkName, Chunk> now;
  for (const auto& row : tables_.Ask(fmt::format("select number, chunk, {}, {}, records from {}",
                                                 tables_.Id("first_id"), tables_.Id("last_id"),
                                                 tables_.Table("usage_chunks"))))
    now[{Number(row[0]), row[1]}] = {row[2], row[3], Number(row[4])};
  for (const auto& [name, chunk] : now)
    if (!chunks_.contains(name)) CheckNewChunk(name, now, windows_before);
  for (const auto& [name, chunk] : chunks_)
    if (!now.contains(name) && !now.contains({name.first, name.second + ".0"}) &&
        !IsTaken(name, chunk))
      complain_(fmt::format("U2: chunk {}-{} went, and the receiver has not taken it", name.first,
                            name.second));
  chunks_ = std::move(now);
}

void UsageBook::CheckNewChunk(const ChunkName& name, const std::map<ChunkName, Chunk>& now,
                              const std::map<std::int64_t, Window>& windows_before) {
  const auto& [number, chunk] = name;
  const auto point = chunk.rfind('.');
  if (point == std::string::npos) {
    const auto window = windows_before.find(number);
    const std::int64_t nth = Number(chunk);
    if (window == windows_before.end() || nth <= window->second.chunks ||
        nth > windows_[number].chunks)
      complain_(fmt::format("U2: chunk {}-{} appeared out of its turn", number, chunk));
    return;
  }
  const ChunkName whole{number, chunk.substr(0, point)};
  const auto was = chunks_.find(whole);
  const auto first = now.find({number, whole.second + ".0"});
  const auto second = now.find({number, whole.second + ".1"});
  if (was == chunks_.end() || now.contains(whole) || first == now.end() || second == now.end())
    return complain_(fmt::format("U2: chunk {}-{} was halved, and was not struck off by who did",
                                 number, whole.second));
  if (first->second.first != was->second.first || second->second.last != was->second.last ||
      first->second.records + second->second.records != was->second.records)
    complain_(fmt::format("U2: the halves of chunk {}-{} are not the whole", number, whole.second));
}

bool UsageBook::IsTaken(const ChunkName& name, const Chunk& chunk) const {
  std::int64_t taken = 0;
  for (auto it = applied_.lower_bound({name.first, chunk.first});
       it != applied_.end() && it->first <= RecordName{name.first, chunk.last}; ++it)
    ++taken;
  return taken == chunk.records;
}

void UsageBook::LookAtFactors() {
  std::map<std::pair<int, std::int64_t>, Factor> now;
  for (const auto& row : tables_.Ask(fmt::format("select kind, from_ms, factor, set_ms from {}",
                                                 tables_.Table("usage_factors"))))
    now[{static_cast<int>(Number(row[0])), Number(row[1])}] = {Number(row[2]), Number(row[3])};
  for (const auto& [key, factor] : now) {
    const auto known = factors_.find(key);
    if (known != factors_.end() && known->second == factor) continue;
    if (factors_.empty() && key.second == 0) continue;  // of the configuration, for all time
    if (key.second < SealedMs() || key.second <= factor.set_ms)
      complain_(fmt::format("U1: the factor of kind {} that was set at {} counts from {} on",
                            key.first, factor.set_ms, key.second));
  }
  for (const auto& [key, factor] : factors_)
    if (!now.contains(key)) complain_("U1: a factor went");
  factors_ = std::move(now);
}

void UsageBook::Received(const std::string& key, const std::string& body, bool takes) {
  if (const auto [known, is_new] = bodies_.emplace(key, body); !is_new && known->second != body)
    complain_(fmt::format("U2: under key {} was sent\n    {}\n    and then\n    {}", key,
                          known->second, body));
  const auto number_at = key.find('-') + 1;
  const auto chunk_at = key.find('-', number_at) + 1;
  const ChunkName chunk{Number(key.substr(number_at, chunk_at - 1 - number_at)),
                        key.substr(chunk_at)};
  for (const std::string& record : RecordsOf(body)) ReceivedRecord(chunk, record, takes);
}

void UsageBook::ReceivedRecord(const ChunkName& chunk, const std::string& record, bool takes) {
  const RecordName name{chunk.first, WithoutDashes(FieldOf(record, "sessionId"))};
  if (FieldOf(record, "recordId") !=
      fmt::format("{}-{}", chunk.first, FieldOf(record, "sessionId")))
    complain_("U2: the id of a record is another one: " + record);
  if (const auto [known, is_new] = records_.emplace(name, record);
      !is_new && known->second != record)
    complain_(fmt::format("U2: a record was sent as\n    {}\n    and then as\n    {}",
                          known->second, record));
  auto& chunks = contained_in_[name];
  for (const std::string& other : chunks)
    if (!IsPartOf(chunk.second, other) && !IsPartOf(other, chunk.second))
      complain_(fmt::format("U2: record {}-{} is in the chunks {} and {}", name.first, name.second,
                            other, chunk.second));
  chunks.insert(chunk.second);
  if (takes) applied_.emplace(name, MicrosOf(FieldOf(record, "usage")));
}

bool UsageBook::IsActiveIn(const Session& session, const Window& window) {
  return std::max(session.start_ms, window.start_ms) < std::min(session.end_ms, window.end_ms);
}

bool UsageBook::IsDelivered() const {
  return chunks_.empty() && std::all_of(windows_.begin(), windows_.end(), [](const auto& entry) {
           return entry.second.state == kEmitted;
         });
}

void UsageBook::CheckEnd() {
  if (!IsDelivered()) complain_("U1: something that was closed is never acknowledged");
  CheckWindows();
  for (const auto& [id, session] : sessions_) CheckSession(id, session);
  for (const auto& [name, micros] : applied_) {
    const auto session = sessions_.find(name.second);
    const auto window = windows_.find(name.first);
    if (session == sessions_.end() || window == windows_.end() ||
        !IsActiveIn(session->second, window->second))
      complain_(fmt::format("U1: record {}-{} is of nobody's time", name.first, name.second));
  }
}

void UsageBook::CheckWindows() {
  std::int64_t number = 0;
  std::int64_t end_ms = 0;
  for (const auto& [next, window] : windows_) {
    if (next != ++number) return complain_(fmt::format("U1: there is no window {}", number));
    if (number > 1 && window.start_ms != end_ms)
      complain_(fmt::format("U1: window {} does not begin where the one before ended", number));
    end_ms = window.end_ms;
    if (std::none_of(intervals_ms_.begin(), intervals_ms_.end(),
                     [&](std::int64_t interval_ms) { return end_ms % interval_ms == 0; }))
      complain_(fmt::format("U1: window {} ends at {}", number, end_ms));
  }
  if (windows_.empty() || sessions_.empty()) return;
  std::int64_t first_ms = sessions_.begin()->second.start_ms;
  for (const auto& [id, session] : sessions_) first_ms = std::min(first_ms, session.start_ms);
  const Window& first = windows_.begin()->second;
  if (first_ms < first.start_ms || first_ms >= first.end_ms)
    complain_("U1: the first window does not hold the first start");
}

void UsageBook::CheckSession(const std::string& id, const Session& session) {
  std::int64_t charged = 0;
  for (const auto& [number, window] : windows_)
    if (IsActiveIn(session, window)) {
      CheckRecord(number, window, id, session);
      if (const auto found = applied_.find({number, id}); found != applied_.end())
        charged += found->second;
    }
  const std::int64_t until_ms =
      windows_.empty() ? 0 : std::min(session.end_ms, windows_.rbegin()->second.end_ms);
  // The integral of the kind's factor from the beginning of time to `t_ms`.
  const auto integral = [&](std::int64_t t_ms) {
    Int128 sum = 0;
    std::int64_t since_ms = 0;
    std::int64_t millionths = 0;
    for (auto it = factors_.lower_bound({session.kind, 0});
         it != factors_.end() && it->first.first == session.kind && it->first.second < t_ms; ++it) {
      sum += static_cast<Int128>(it->first.second - since_ms) * millionths;
      since_ms = it->first.second;
      millionths = it->second.millionths;
    }
    return sum + static_cast<Int128>(t_ms - since_ms) * millionths;
  };
  const std::int64_t owed =
      until_ms <= session.start_ms
          ? 0
          : static_cast<std::int64_t>((integral(until_ms) - integral(session.start_ms)) / kUnitMs);
  if (charged != owed)
    complain_(fmt::format("U1: session {} of kind {} from {} to {} was charged {} and not {}", id,
                          session.kind, session.start_ms, session.end_ms, charged, owed));
}

void UsageBook::CheckRecord(std::int64_t number, const Window& window, const std::string& id,
                            const Session& session) {
  const auto found = records_.find({number, id});
  if (found == records_.end() || !applied_.contains({number, id}))
    return complain_(fmt::format("U1: record {}-{} is missing", number, id));
  const std::string& record = found->second;
  if (WithoutDashes(FieldOf(record, "userObjectId")) != session.user ||
      WithoutDashes(FieldOf(record, "tenantObjectId")) != session.tenant ||
      WithoutDashes(FieldOf(record, "capacityId")) != session.capacity ||
      FieldOf(record, "sessionKind") != std::to_string(session.kind) ||
      FieldOf(record, "windowStartUtc") != TimeText(window.start_ms) ||
      FieldOf(record, "windowEndUtc") != TimeText(window.end_ms))
    complain_("U1: a record is not what its session and window are: " + record);
}

}  // namespace tenure::sim
