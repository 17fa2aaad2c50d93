#include "messages/hold/heartbeat.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "messages_sql/queries.hpp"

namespace tenure::messages {

std::int64_t NewWorker() {
  std::uint64_t bits = 0;
  base::RandomBytes(reinterpret_cast<std::uint8_t*>(&bits), sizeof bits);
  // Above all that are made of names (WorkerOf), and positive.
  return static_cast<std::int64_t>((bits >> 2) | std::uint64_t{1} << 62);
}

std::int64_t WorkerOf(std::string_view tenant, std::string_view owner) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  const auto add = [&](std::string_view text) {
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001B3ULL;
  };
  add(tenant);
  add({"\n", 1});
  add(owner);
  // Below those with a heartbeat, which have the second highest bit.
  return static_cast<std::int64_t>(hash >> 2);
}

void BeatWorkers(db::Transaction& tx, db::Items<HeartbeatRequest, HeartbeatReply> items) {
  // The clock before the row locks is right here: a wait for the reaper only shortens the life.
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::map<std::int64_t, const HeartbeatRequest*> joining;
  std::set<std::int64_t> beating;
  std::set<std::int64_t> leaving;
  for (const auto* item : items) {
    switch (item->request.kind) {
      case HeartbeatRequest::Kind::kJoin:
        joining[item->request.worker] = &item->request;
        break;
      case HeartbeatRequest::Kind::kBeat:
        beating.insert(item->request.worker);
        break;
      case HeartbeatRequest::Kind::kLeave:
        leaving.insert(item->request.worker);
        break;
    }
  }
  std::vector<const HeartbeatRequest*> joined;
  for (const auto& [worker, request] : joining) joined.push_back(request);
  tx.Queue(sql::kJoinWorkers,
           db::Columns(joined, &HeartbeatRequest::worker, &HeartbeatRequest::tenant,
                       &HeartbeatRequest::owner),
           now_ms + kWorkerTtlMs);
  std::set<std::int64_t> alive;
  for (const auto row :
       tx.Run(sql::kBeatWorkers, db::Columns(beating, std::identity()), now_ms + kWorkerTtlMs))
    alive.insert(row.Int(0));
  tx.Queue(sql::kRemoveWorkers, db::Columns(leaving, std::identity()));
  for (auto* item : items)
    item->reply = HeartbeatReply{item->request.kind != HeartbeatRequest::Kind::kBeat ||
                                 alive.contains(item->request.worker)};
}

void MarkStarted(db::Transaction& tx, db::Items<StartedRequest, StartedReply> items) {
  std::map<std::pair<std::string_view, base::Uuid>, std::int64_t> marks;
  for (auto* item : items) {
    std::int64_t& mark = marks[{item->request.tenant, item->request.claim}];
    mark = std::max(mark, item->request.started);
    item->reply = StartedReply{};
  }
  using Mark = decltype(marks)::value_type;
  using Claim = decltype(marks)::key_type;
  tx.Queue(
      sql::kMarkStarted,
      db::Columns(marks, db::Inside(&Mark::first, &Claim::first, &Claim::second), &Mark::second));
}

}  // namespace tenure::messages
