#include "seats/redis_epoch.hpp"

#include <algorithm>

#include "seats/columns.hpp"
#include "seats_sql/queries.hpp"

namespace tenure::seats {

namespace {

/// How many seats of a licence are asked about at once.
constexpr std::int64_t kMostCandidates = 1'000;

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
    item->reply = std::move(reply);
  }
}

void FindCandidates(db::Transaction& tx, db::Items<CandidatesRequest, CandidatesReply> items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const RedisEpoch epoch = ReadLimits(tx.Run(sql::kReadLimits)).redis;
  for (auto* item : items) {
    CandidatesReply reply{{}, epoch.epoch, now_ms};
    for (const auto row :
         tx.Run(sql::kFindCandidates, item->request.license, now_ms, kMostCandidates)) {
      CandidatesReply::Seat seat{row.Int(0), {}};
      db::ReadInto(seat.promise, row, 1, &Promise::fence, &Promise::expires_ms,
                   &Promise::horizon_ms, &Promise::epoch);
      if (!IsOver(seat.promise, epoch, now_ms, false)) reply.seats.push_back(seat);
    }
    item->reply = std::move(reply);
  }
}

}  // namespace tenure::seats
