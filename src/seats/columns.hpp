#pragma once

#include "db/columns.hpp"
#include "seats/ledger.hpp"

namespace tenure::seats {

// As the queries have them.

inline constexpr auto kSeatColumns =
    db::Members(&SeatRow::slot, &SeatRow::open, &SeatRow::lapsed_ms, &SeatRow::session,
                &SeatRow::machine, &SeatRow::person, &SeatRow::fence, &SeatRow::started_ms,
                &SeatRow::beat_ms, &SeatRow::expires_ms, &SeatRow::prior_ms, &SeatRow::revoked,
                &SeatRow::ticket, &SeatRow::address, &SeatRow::user_agent, &SeatRow::metadata,
                &SeatRow::horizon_ms, &SeatRow::epoch);
inline constexpr std::size_t kSeatColumnCount = std::tuple_size_v<decltype(kSeatColumns)>;

inline constexpr auto kTicketColumns = db::Members(
    &TicketRow::number, &TicketRow::id, &TicketRow::machine, &TicketRow::person,
    &TicketRow::process, &TicketRow::expires_ms, &TicketRow::slot, &TicketRow::placed_ms);
inline constexpr std::size_t kTicketColumnCount = std::tuple_size_v<decltype(kTicketColumns)>;

/// Of a row, or of a pointer to one.
template <class Row>
const auto& Reached(const Row& row) {
  if constexpr (std::is_pointer_v<Row>)
    return *row;
  else
    return row;
}

inline constexpr auto kLogHashOf = [](const auto& license) {
  return db::BytesView{Reached(license).log_hash};
};

/// To read them.
inline constexpr auto kLicenseColumns = db::Members(
    &LicenseRow::id, &LicenseRow::tenant, &LicenseRow::name, &LicenseRow::state, &LicenseRow::seats,
    &LicenseRow::ttl_ms, &LicenseRow::interval_ms, &LicenseRow::grace_ms,
    &LicenseRow::valid_from_ms, &LicenseRow::valid_until_ms, &LicenseRow::metadata,
    &LicenseRow::key_hint, &LicenseRow::revision, &LicenseRow::created_ms, &LicenseRow::row_count,
    &LicenseRow::held, &LicenseRow::holders, &LicenseRow::peak, &LicenseRow::peak_ms,
    &LicenseRow::last_slot, &LicenseRow::next_ticket, &LicenseRow::fence, &LicenseRow::last_ms,
    &LicenseRow::look_ms, &LicenseRow::longest_ms, &LicenseRow::born, &LicenseRow::incarnation,
    &LicenseRow::log_seq, &LicenseRow::log_hash, &LicenseRow::log_base);
inline constexpr std::size_t kLicenseColumnCount = std::tuple_size_v<decltype(kLicenseColumns)>;

// Reading. What stands in the store may have been written by hand: a row that makes no sense is a fault of
// whoever asked for it, and nothing is computed with it.

inline constexpr std::int64_t kMostNumber = std::int64_t{1} << 53;

inline void DemandNumber(std::int64_t number) {
  if (number < 0 || number > kMostNumber) db::ThrowBadRow("a number of seats is out of range");
}

/// Of read_limits.sql.
Limits ReadLimits(const db::Rows& rows);
LicenseRow ReadLicense(const db::Rows::Row& row);
SeatRow ReadSeat(const db::Rows::Row& row, std::size_t first = 0);
TicketRow ReadTicketRow(const db::Rows::Row& row);

inline constexpr auto kEntryHashOf = [](const auto& added) {
  const LogHash& hash = Reached(added).entry.hash;
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): bytes as text
  return db::BytesView{{reinterpret_cast<const char*>(hash.data()), hash.size()}};
};
/// To add them to the log.
inline constexpr auto kEntryColumns =
    db::Members(db::Inside(&NewEntry::entry, &LogEntry::license, &LogEntry::seq, &LogEntry::at_ms,
                           &LogEntry::kind, &LogEntry::session, &LogEntry::slot, &LogEntry::fence,
                           &LogEntry::detail),
                kEntryHashOf, &NewEntry::former);

}  // namespace tenure::seats
