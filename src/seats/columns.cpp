#include "seats/columns.hpp"

namespace tenure::seats {

Limits ReadLimits(const db::Rows& rows) {
  if (rows.empty()) db::ThrowBadRow("the store, or the ledger of seats, has no row");
  const auto row = rows[0];
  auto limits =
      db::ReadAs<Limits>(row, &Limits::incarnation, &Limits::frozen_ms, &Limits::freeze_ms);
  db::ReadInto(limits.redis, row, 3, &RedisEpoch::epoch, &RedisEpoch::identity,
               &RedisEpoch::frozen_ms, &RedisEpoch::offset_ms, &RedisEpoch::used_ms,
               &RedisEpoch::lag_ms, &RedisEpoch::incarnation);
  DemandNumber(limits.redis.lag_ms);
  DemandNumber(limits.redis.epoch);
  DemandNumber(limits.redis.frozen_ms);
  DemandNumber(limits.redis.used_ms);
  return limits;
}

LicenseRow ReadLicense(const db::Rows::Row& row) {
  auto license = db::ReadAs<LicenseRow>(row, kLicenseColumns);
  for (const std::int64_t number :
       {license.seats,         license.ttl_ms,         license.interval_ms, license.grace_ms,
        license.valid_from_ms, license.valid_until_ms, license.revision,    license.created_ms,
        license.row_count,     license.held,           license.holders,     license.peak,
        license.peak_ms,       license.last_slot,      license.next_ticket, license.fence,
        license.last_ms,       license.longest_ms,     license.born,        license.incarnation,
        license.log_seq,       license.log_base})
    DemandNumber(number);
  if (license.look_ms != kNever) DemandNumber(license.look_ms);
  if (license.state > LicenseState::kRevoked) db::ThrowBadRow("a licence has no such state");
  if (license.log_hash.size() != LogHash().size()) db::ThrowBadRow("a log's head is no hash");
  return license;
}

SeatRow ReadSeat(const db::Rows::Row& row, std::size_t first) {
  SeatRow seat;
  db::ReadInto(seat, row, first, kSeatColumns);
  for (const std::int64_t number :
       {seat.slot, seat.lapsed_ms, seat.fence, seat.started_ms, seat.beat_ms, seat.expires_ms,
        seat.prior_ms, seat.horizon_ms, seat.epoch})
    DemandNumber(number);
  if ((seat.session || seat.ticket) && !seat.machine)
    db::ThrowBadRow("a seat is somebody's, and no machine's");
  return seat;
}

TicketRow ReadTicketRow(const db::Rows::Row& row) {
  auto ticket = db::ReadAs<TicketRow>(row, kTicketColumns);
  for (const std::int64_t number : {ticket.number, ticket.expires_ms, ticket.placed_ms})
    DemandNumber(number);
  return ticket;
}

}  // namespace tenure::seats
