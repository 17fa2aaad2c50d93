#include "seats/redis_kept.hpp"

#include <algorithm>

#include "db/keys.hpp"
#include "seats/columns.hpp"
#include "seats_sql/queries.hpp"

namespace tenure::seats {

namespace {

constexpr std::int64_t kKeptPage = 200;

HoldingFacts FactsOf(const db::Rows::Row& row, const LicenseRow& terms) {
  return {.license = row.Uuid(0),
          .slot = row.Int(1),
          .fence = row.Int(12),
          .tenant = terms.tenant,
          .person = std::string(row.Text(2)),
          .ttl_ms = terms.ttl_ms + terms.grace_ms,
          .revision = row.Int(14)};
}

}  // namespace

void FindFacts(db::Transaction& tx, db::Items<FactsRequest, FactsReply> items) {
  std::vector<base::Uuid> all;
  for (const auto* item : items)
    all.insert(all.end(), item->request.sessions.begin(), item->request.sessions.end());
  const db::UniqueKeys keys(std::move(all));
  const std::vector<base::Uuid> sessions(keys.begin(), keys.end());
  const auto loading = tx.Queue(sql::kLoadSessions, sessions);
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::vector<std::optional<HoldingFacts>> facts(sessions.size());
  for (const auto row : tx.Take(loading)) {
    LicenseRow terms;
    db::ReadInto(terms, row, 6, &LicenseRow::tenant, &LicenseRow::state, &LicenseRow::ttl_ms,
                 &LicenseRow::grace_ms, &LicenseRow::valid_from_ms, &LicenseRow::valid_until_ms);
    const bool is_open = row.Int(3) != 0;
    const bool is_revoked = row.Int(4) != 0;
    if (!is_open && !is_revoked && terms.StandingAt(now_ms) == Standing::kActive)
      facts[row.ordinal()] = FactsOf(row, terms);
  }
  for (auto* item : items) {
    FactsReply reply;
    for (const base::Uuid& session : item->request.sessions)
      reply.facts.push_back(facts[keys.IndexOf(session)]);
    item->reply = std::move(reply);
  }
}

void ReadRevisions(db::Transaction& tx, db::Items<RevisionsRequest, RevisionsReply> items) {
  for (auto* item : items) {
    RevisionsReply reply;
    reply.revisions.resize(item->request.licenses.size());
    for (const auto row : tx.Run(sql::kReadRevisions, item->request.licenses))
      reply.revisions[row.ordinal()] = row.Int(0);
    item->reply = std::move(reply);
  }
}

void FindKept(db::Transaction& tx, db::Items<KeptRequest, KeptReply> items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    KeptReply reply;
    for (const auto row : tx.Run(sql::kFindKept, item->request.after, now_ms, kKeptPage))
      reply.licenses.push_back(row.Uuid(0));
    item->reply = std::move(reply);
  }
}

namespace {

struct AbsentSeat {
  base::Uuid license{};
  std::int64_t slot = 0;
};
struct AbsentAdoption {
  base::Uuid license{};
  std::int64_t slot = 0;
  std::int64_t beat_ms = 0;
  std::int64_t expires_ms = 0;
  std::int64_t horizon_ms = 0;
  std::int64_t epoch = 0;
};

}  // namespace

/// Its holder, if there is one, is told nothing: so the row says one ttl more, and the record may be
/// renewed for another until the next heartbeat adopts it for long.
void AdoptAbsent(db::Transaction& tx, db::Items<AbsentRequest, AbsentReply> items) {
  for (auto* item : items) {
    const AbsentRequest& request = item->request;
    std::vector<AbsentSeat> seats;
    for (const auto& seat : request.seats) seats.push_back({request.license, seat.slot});
    const auto locking =
        tx.Queue(sql::kLockDead, db::Columns(seats, &AbsentSeat::license, &AbsentSeat::slot));
    const db::Rows locked = tx.Take(locking);
    const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
    AbsentReply reply;
    std::vector<AbsentAdoption> adoptions;
    LicenseRow terms;
    for (const auto row : tx.Run(sql::kReadPromises, request.license, now_ms))
      db::ReadInto(terms, row, 0, &LicenseRow::ttl_ms, &LicenseRow::grace_ms,
                   &LicenseRow::valid_until_ms);
    const std::int64_t ttl_ms = terms.ttl_ms + terms.grace_ms;
    const std::int64_t end_ms = terms.valid_until_ms > 0 ? terms.valid_until_ms : kNever;
    for (const auto row : locked) {
      const SeatRow now = ReadSeat(row);
      const bool is_same = CountsFor(request.seats[row.ordinal()].promise, now.promise());
      const std::int64_t horizon_ms = std::min(now_ms + 2 * ttl_ms, end_ms);
      if (!is_same || ttl_ms == 0 || horizon_ms <= now_ms) continue;
      adoptions.push_back({request.license, now.slot, now.beat_ms,
                           std::min(terms.DeadlineFrom(now_ms), end_ms), horizon_ms,
                           request.epoch});
      // Who was revoked or has released it is not to be renewed there: the record is nobody's.
      const bool is_renewable = now.session && !now.revoked;
      reply.adopted.push_back(
          {request.license, now.slot, is_renewable ? now.fence : 0, ttl_ms, horizon_ms - now_ms});
    }
    tx.Queue(sql::kAdoptSeats,
             db::Columns(adoptions, &AbsentAdoption::license, &AbsentAdoption::slot,
                         &AbsentAdoption::beat_ms, &AbsentAdoption::expires_ms,
                         &AbsentAdoption::horizon_ms, &AbsentAdoption::epoch));
    item->reply = std::move(reply);
  }
}

}  // namespace tenure::seats
