#include "messages/heartbeat.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "messages_sql/queries.hpp"

namespace tenure::messages {

std::int64_t NewWorker() {
  std::uint64_t bits = 0;
  base::RandomBytes(reinterpret_cast<std::uint8_t*>(&bits), sizeof bits);
  // Above all that are made of names (claim.hpp, WorkerOf), and positive.
  return static_cast<std::int64_t>((bits >> 2) | std::uint64_t{1} << 62);
}

void HeartbeatHandler::WriteItems(db::Transaction& tx, Items items) {
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
  std::vector<std::int64_t> joined;
  std::vector<std::string_view> tenants, owners;
  for (const auto& [worker, request] : joining) {
    joined.push_back(worker);
    tenants.push_back(request->tenant);
    owners.push_back(request->owner);
  }
  tx.Queue(sql::kJoinWorkers, joined, tenants, owners, now_ms + kWorkerTtlMs);
  const std::vector<std::int64_t> beats(beating.begin(), beating.end());
  std::set<std::int64_t> alive;
  for (const auto row : tx.Run(sql::kBeatWorkers, beats, now_ms + kWorkerTtlMs))
    alive.insert(row.Int(0));
  tx.Queue(sql::kRemoveWorkers, std::vector<std::int64_t>(leaving.begin(), leaving.end()));
  for (auto* item : items)
    item->reply = HeartbeatReply{item->request.kind != HeartbeatRequest::Kind::kBeat ||
                                 alive.contains(item->request.worker)};
}

void StartedHandler::WriteItems(db::Transaction& tx, Items items) {
  std::map<std::pair<std::string_view, base::Uuid>, std::int64_t> marks;
  for (auto* item : items) {
    std::int64_t& mark = marks[{item->request.tenant, item->request.claim}];
    mark = std::max(mark, item->request.started);
    item->reply = StartedReply{};
  }
  std::vector<std::string_view> tenants;
  std::vector<base::Uuid> claims;
  std::vector<std::int64_t> started;
  for (const auto& [key, mark] : marks) {
    tenants.push_back(key.first);
    claims.push_back(key.second);
    started.push_back(mark);
  }
  tx.Queue(sql::kMarkStarted, tenants, claims, started);
}

}  // namespace tenure::messages
