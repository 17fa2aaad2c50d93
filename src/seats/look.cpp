#include "seats/look.hpp"

#include <tuple>

#include "db/columns.hpp"
#include "db/keys.hpp"
#include "seats_sql/queries.hpp"

namespace tenure::seats {
namespace {

using AskedKey = std::tuple<std::string, std::string, std::string>;  // tenant, hash, machine

AskedKey AskedOf(const KeyLook& look) { return {look.tenant, look.key_hash, look.machine}; }

/// Parts of a key, as columns.
constexpr auto kTenantOf = [](const AskedKey& key) -> const std::string& {
  return std::get<0>(key);
};
constexpr auto kHashOf = [](const AskedKey& key) { return db::BytesView{std::get<1>(key)}; };
constexpr auto kMachineOf = [](const AskedKey& key) -> const std::string& {
  return std::get<2>(key);
};

struct Seen {
  LicenseRow license{};
  std::int64_t key_until_ms = 0;  ///< 0: for ever
  bool knows_machine = false;
};

KeyLookReply AnswerOf(const KeyLook& look, const Seen& seen, std::int64_t now_ms) {
  const LicenseRow& license = seen.license;
  KeyLookReply reply{license.id, std::nullopt};
  const Standing standing = license.StandingAt(now_ms);
  if (standing != Standing::kActive)
    reply.outcome = Inactive{standing, license.valid_until_ms};
  else if (!look.waits && !seen.knows_machine && license.held >= license.seats &&
           license.look_ms > now_ms)
    reply.outcome = Full{.license = license.id,
                         .total = license.seats,
                         .retry_ms = license.look_ms == kNever ? kNever : license.look_ms - now_ms};
  return reply;
}

}  // namespace

void LookAtKeys(db::Transaction& tx, db::Items<KeyLook, KeyLookReply> items) {
  const auto keys = db::KeysOf(items, AskedOf);
  const auto looking =
      tx.Queue(sql::kLookAtKeys, db::Columns(keys, kTenantOf, kHashOf, kMachineOf));
  // After the rows: a deadline that passed meanwhile is not ahead any more.
  const auto clock = tx.QueueClock();
  std::vector<std::optional<Seen>> seen(keys.size());
  for (const auto row : tx.Take(looking)) {
    Seen& one = seen[row.ordinal()].emplace();
    db::ReadInto(one.license, row, 0, &LicenseRow::id, &LicenseRow::state, &LicenseRow::seats,
                 &LicenseRow::valid_from_ms, &LicenseRow::valid_until_ms, &LicenseRow::row_count,
                 &LicenseRow::held, &LicenseRow::look_ms);
    one.key_until_ms = row.Int(8);
    one.knows_machine = row.Int(9) != 0;
  }
  const std::int64_t now_ms = tx.TakeClock(clock);
  for (auto* item : items) {
    const auto& found = seen[keys.IndexOf(AskedOf(item->request))];
    const bool is_good = found && (found->key_until_ms == 0 || found->key_until_ms > now_ms);
    item->reply = is_good ? AnswerOf(item->request, *found, now_ms) : KeyLookReply();
  }
}

void LocateSessions(db::Transaction& tx, db::Items<SessionRef, SessionPlace> items) {
  const auto keys = db::KeysOf(items, &SessionRef::session);
  std::vector<SessionPlace> places(keys.size());
  const std::vector<base::Uuid> sessions(keys.begin(), keys.end());
  for (const auto row : tx.Run(sql::kLocateSessions, sessions))
    if (!row.IsNull(0)) places[row.ordinal()].license = row.Uuid(0);
  for (auto* item : items) item->reply = places[keys.IndexOf(item->request.session)];
}

void LocateTickets(db::Transaction& tx, db::Items<TicketRef, TicketPlace> items) {
  const auto keys = db::KeysOf(items, &TicketRef::ticket);
  std::vector<TicketPlace> places(keys.size());
  const std::vector<base::Uuid> tickets(keys.begin(), keys.end());
  for (const auto row : tx.Run(sql::kLocateTickets, tickets))
    places[row.ordinal()] = {row.Uuid(0), std::string(row.Text(1))};
  for (auto* item : items) item->reply = places[keys.IndexOf(item->request.ticket)];
}

}  // namespace tenure::seats
