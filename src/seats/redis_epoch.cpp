#include "seats/redis_epoch.hpp"

#include <algorithm>

#include "base/json_writer.hpp"
#include "seats/columns.hpp"
#include "seats_sql/queries.hpp"

namespace tenure::seats {

namespace {

/// How many seats of a licence are asked about at once.
constexpr std::int64_t kMostCandidates = 1'000;

/// Which Redis keeps heartbeats from now on is for the record.
void NoteRaise(db::Item<RaiseRequest, RaiseReply>& item, const RedisEpoch& epoch) {
  db::AuditEvent event{"seat_ledger", ""};
  base::JsonWriter json(event.detail);
  json.BeginObject()
      .Field("epoch", epoch.epoch)
      .Field("redis", std::string_view(epoch.identity.value_or("")))
      .Field("cause", item.request.reason);
  json.Key("frozen_until").Time(epoch.frozen_ms);
  json.EndObject();
  item.Did(std::move(event));
}

}  // namespace

EpochSeen ReadRedisEpochNow(db::Transaction& tx, std::int64_t now_ms) {
  const auto epoch = tx.Queue(sql::kReadLimits);
  const auto longest = tx.Queue(sql::kLongestPromise);
  const Limits limits = ReadLimits(tx.Take(epoch));
  return {limits.redis, limits.incarnation, tx.Take(longest)[0].Int(0), now_ms};
}

void NoteUse(db::Transaction& tx, db::Items<UseRequest, UseReply> items) {
  tx.Run(sql::kLockSeatLedger);
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    tx.Queue(sql::kNoteRedisUse, item->request.epoch, now_ms);
    item->reply = UseReply();
  }
}

void RaiseEpoch(db::Transaction& tx, db::Items<RaiseRequest, RaiseReply> items) {
  tx.Run(sql::kLockSeatLedger);
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  // Who has authority under the old epoch promises no more than the longest that it read with it.
  const std::int64_t longest_ms = tx.Run(sql::kLongestPromise)[0].Int(0);
  for (auto* item : items) {
    const RaiseRequest& request = item->request;
    RaiseReply reply;
    reply.raised = !tx.Run(sql::kRaiseRedisEpoch, request.from,
                           std::string_view(request.identity.value_or("")),
                           now_ms + FreezeMs(request.rules, longest_ms), request.offset_ms, now_ms,
                           LagMs(request.rules))
                        .empty();
    reply.epoch = ReadLimits(tx.Run(sql::kReadLimits)).redis;
    if (reply.raised) NoteRaise(*item, reply.epoch);
    item->reply = std::move(reply);
  }
}

void FindCandidates(db::Transaction& tx, db::Items<CandidatesRequest, CandidatesReply> items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const RedisEpoch epoch = ReadLimits(tx.Run(sql::kReadLimits)).redis;
  for (auto* item : items) {
    CandidatesReply reply{.epoch = epoch.epoch, .frozen_ms = epoch.frozen_ms, .now_ms = now_ms};
    const auto promises = tx.Queue(sql::kReadPromises, item->request.license, now_ms);
    const auto kept = tx.Queue(sql::kFindCandidates, item->request.license, now_ms,
                               item->request.after, kMostCandidates);
    for (const auto row : tx.Take(promises)) {
      reply.ttl_ms = row.Int(0) + row.Int(1);
      if (!row.IsNull(3)) reply.soon_ms = row.Int(3);
    }
    const db::Rows rows = tx.Take(kept);
    for (const auto row : rows) {
      CandidatesReply::Seat seat{row.Int(0), {}, row.Int(5) != 0};
      db::ReadInto(seat.promise, row, 1, &Promise::fence, &Promise::expires_ms,
                   &Promise::horizon_ms, &Promise::epoch);
      if (rows.size() == static_cast<std::size_t>(kMostCandidates)) reply.next = seat.slot;
      (IsOver(seat.promise, epoch, now_ms, false) ? reply.over : reply.seats).push_back(seat);
    }
    item->reply = std::move(reply);
  }
}

}  // namespace tenure::seats
