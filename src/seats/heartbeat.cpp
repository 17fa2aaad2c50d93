#include "seats/heartbeat.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "db/keys.hpp"
#include "seats/batch.hpp"
#include "seats/columns.hpp"
#include "seats_sql/queries.hpp"

namespace tenure::seats {
namespace {

/// A seat and what its licence says, as far as a heartbeat is concerned.
struct BeatRow {
  base::Uuid license{};
  std::int64_t slot = 0;
  std::string person{};
  bool open = false;
  bool revoked = false;
  std::int64_t expires_ms = 0;
  LicenseRow terms{};
  std::int64_t fence = 0;
  std::int64_t over_ms = 0;  ///< nobody else has it before
  bool locked = false;
};

struct Renewal {
  base::Uuid license{};
  std::int64_t slot = 0;
  std::int64_t beat_ms = 0;
  std::int64_t expires_ms = 0;
  std::int64_t horizon_ms = 0;
  std::int64_t epoch = 0;
};

using RowsBySession = std::unordered_map<base::Uuid, BeatRow>;

BeatRow ReadBeatRow(const db::Rows::Row& row) {
  BeatRow read;
  db::ReadInto(read, row, 0, &BeatRow::license, &BeatRow::slot, &BeatRow::person, &BeatRow::open,
               &BeatRow::revoked, &BeatRow::expires_ms);
  db::ReadInto(read.terms, row, 6, &LicenseRow::tenant, &LicenseRow::state, &LicenseRow::ttl_ms,
               &LicenseRow::grace_ms, &LicenseRow::valid_from_ms, &LicenseRow::valid_until_ms);
  read.fence = row.Int(12);
  read.over_ms = row.Int(13);
  for (const std::int64_t number : {read.expires_ms, read.terms.ttl_ms, read.terms.grace_ms,
                                    read.terms.valid_until_ms, read.fence, read.over_ms})
    DemandNumber(number);
  return read;
}

/// Of those that have no row: which licence's log tells of them.
std::unordered_map<base::Uuid, base::Uuid> LicensesInLog(db::Transaction& tx,
                                                         const std::vector<base::Uuid>& sessions) {
  std::unordered_map<base::Uuid, base::Uuid> licenses;
  if (sessions.empty()) return licenses;
  const auto entries = LoadEntries(tx, sessions);
  for (std::size_t i = 0; i < sessions.size(); ++i)
    if (!entries[i].empty()) licenses[sessions[i]] = entries[i].front().license;
  return licenses;
}

/// How long a session that the store does not know may be one that it has forgotten: as long as any
/// licence of its tenant is frozen. Asked once for each tenant.
class Freezes {
 public:
  BeatAnswer NobodyKnows(db::Transaction& tx, const std::string& tenant, std::int64_t now_ms) {
    const auto [found, is_new] = until_ms_.try_emplace(tenant, 0);
    if (is_new) {
      const db::Rows rows = tx.Run(sql::kReadFreeze, std::string_view(tenant));
      if (!rows.empty() && !rows[0].IsNull(0)) found->second = rows[0].Int(0);
    }
    if (now_ms < found->second) return Forgotten{found->second - now_ms};
    return NoSession();
  }

 private:
  std::unordered_map<std::string, std::int64_t> until_ms_;
};

}  // namespace

std::size_t BeatHandler::KeyHash(const BeatRequest& request) const {
  return request.sessions.empty() ? 0 : std::hash<base::Uuid>()(request.sessions.front());
}

void BeatHandler::WriteItems(db::Transaction& tx, Items items) {
  std::vector<base::Uuid> all;
  for (const auto* item : items)
    all.insert(all.end(), item->request.sessions.begin(), item->request.sessions.end());
  const db::UniqueKeys keys(std::move(all));
  const std::vector<base::Uuid> sessions(keys.begin(), keys.end());

  const auto locking = tx.Queue(sql::kLockSessions, sessions);
  const auto loading = tx.Queue(sql::kLoadSessions, sessions);
  const auto clock = tx.QueueClock();
  std::unordered_set<std::size_t> locked;
  for (const auto row : tx.Take(locking)) locked.insert(row.ordinal());
  RowsBySession rows;
  for (const auto row : tx.Take(loading)) {
    BeatRow& read = rows[sessions[row.ordinal()]];
    read = ReadBeatRow(row);
    read.locked = locked.contains(row.ordinal());
  }
  const std::int64_t now_ms = tx.TakeClock(clock);

  std::vector<base::Uuid> unknown;
  for (const base::Uuid& session : sessions)
    if (!rows.contains(session)) unknown.push_back(session);
  const auto in_log = LicensesInLog(tx, unknown);

  Freezes freezes;
  std::vector<Renewal> renewals, adoptions;
  std::unordered_set<base::Uuid> renewed, adopted;
  for (auto* item : items) {
    const BeatRequest& request = item->request;
    BeatReply reply{.now_ms = now_ms};
    reply.answers.reserve(request.sessions.size());
    for (const base::Uuid& session : request.sessions) {
      const auto found = rows.find(session);
      if (found == rows.end()) {
        const auto logged = in_log.find(session);
        reply.answers.push_back(logged == in_log.end()
                                    ? freezes.NobodyKnows(tx, request.tenant, now_ms)
                                    : BeatAnswer(AskLicense{logged->second}));
        continue;
      }
      BeatRow& row = found->second;
      const bool theirs = row.terms.tenant == request.tenant && row.person == request.person;
      const bool live = row.locked && !row.open && !row.revoked && row.over_ms > now_ms &&
                        row.terms.StandingAt(now_ms) == Standing::kActive;
      if (!theirs || !live) {
        reply.answers.push_back(theirs ? BeatAnswer(AskLicense{row.license}) : NoSession());
        continue;
      }
      row.expires_ms = std::max(row.expires_ms, row.terms.DeadlineFrom(now_ms));
      row.over_ms = std::max(row.over_ms, row.expires_ms);
      reply.answers.emplace_back(Beat{now_ms, row.expires_ms, false, row.license});
      if (!request.adoption) {
        if (renewed.insert(session).second)
          renewals.push_back({row.license, row.slot, now_ms, row.expires_ms, 0, 0});
        continue;
      }
      const std::int64_t until_ms = row.terms.valid_until_ms;
      const std::int64_t horizon_ms =
          std::min(now_ms + request.adoption->horizon_ms, until_ms > 0 ? until_ms : kNever);
      if (adopted.insert(session).second)
        adoptions.push_back(
            {row.license, row.slot, now_ms, row.expires_ms, horizon_ms, request.adoption->epoch});
      reply.adopted.resize(reply.answers.size());
      reply.adopted.back() = {row.license, row.slot, row.fence,
                              row.terms.ttl_ms + row.terms.grace_ms, horizon_ms - now_ms};
    }
    if (request.adoption) reply.adopted.resize(reply.answers.size());
    item->reply = std::move(reply);
  }
  tx.Queue(sql::kRenewSeats, db::Columns(renewals, &Renewal::license, &Renewal::slot,
                                         &Renewal::beat_ms, &Renewal::expires_ms));
  tx.Queue(sql::kAdoptSeats,
           db::Columns(adoptions, &Renewal::license, &Renewal::slot, &Renewal::beat_ms,
                       &Renewal::expires_ms, &Renewal::horizon_ms, &Renewal::epoch));
}

}  // namespace tenure::seats
