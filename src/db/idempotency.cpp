#include "db/idempotency.hpp"

#include <algorithm>

#include "db_sql/queries.hpp"

namespace tenure::db {
ClaimedKeys ClaimAnswers(Transaction& tx, const std::vector<base::IdempotencyKey>& keys) {
  // Only an age hangs on this time: that it is read before the wait for a name does no harm.
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const auto claiming = tx.Queue(
      sql::kClaimAnswers,
      Columns(keys, &base::IdempotencyKey::name, &base::IdempotencyKey::body_hash), now_ms);
  const auto reading = tx.Queue(sql::kReadAnswers, Columns(keys, &base::IdempotencyKey::name));

  ClaimedKeys claims;
  claims.claimed.resize(keys.size());
  claims.earlier.resize(keys.size());
  const Rows claimed = tx.Take(claiming);
  for (const auto row : claimed) {
    const auto at =
        std::ranges::find(keys, row.Text(0), &base::IdempotencyKey::name) - keys.begin();
    claims.claimed[static_cast<std::size_t>(at)] = true;
  }
  const Rows earlier = tx.Take(reading);
  for (const auto row : earlier)
    if (!claims.claimed[row.ordinal()])
      claims.earlier[row.ordinal()] =
          ClaimedKeys::Before{std::string(row.Text(0)),
                              {row.Int(1), std::string(row.Text(2)), std::string(row.Text(3))}};
  // A name that was neither claimed nor found was forgotten between the two statements.
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (!claims.claimed[i] && !claims.earlier[i])
      throw base::Fault(base::FaultKind::kSerialization, "an idempotency key was just forgotten");
  return claims;
}

void KeepAnswers(Transaction& tx, std::span<const NamedAnswer> answers) {
  std::vector<const NamedAnswer*> kept, given_back;
  for (const NamedAnswer& each : answers) (each.answer ? kept : given_back).push_back(&each);
  const auto answer = [](const NamedAnswer* each) -> const base::StoredAnswer& {
    return *each->answer;
  };
  tx.Queue(sql::kKeepAnswers,
           Columns(kept, &NamedAnswer::name,
                   Inside(answer, &base::StoredAnswer::status, &base::StoredAnswer::body,
                          &base::StoredAnswer::location)));
  tx.Queue(sql::kDropAnswers, Columns(given_back, &NamedAnswer::name));
}

Swept ForgetAnswersHandler::Sweep(Transaction& tx, const ForgetAnswersRequest&,
                                  std::int64_t now_ms) {
  return Swept().Add(tx.Run(sql::kForgetAnswers, now_ms - kAnswerRetentionMs, kSweepRows).size());
}

}  // namespace tenure::db
