#include "db/once.hpp"

#include <algorithm>

#include "db_sql/queries.hpp"

namespace tenure::db {
namespace {

constexpr std::int64_t kForgetBatch = 500;

}  // namespace

Claims ClaimAnswers(Transaction& tx, const std::vector<OnceKey>& keys) {
  std::vector<std::string> names;
  std::vector<std::string> hashes;
  for (const OnceKey& key : keys) {
    names.push_back(key.name);
    hashes.push_back(key.body_hash);
  }
  // Only an age hangs on this time: that it is read before the wait for a name does no harm.
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  const auto claiming = tx.Queue(sql::kClaimAnswers, names, hashes, now_ms);
  const auto reading = tx.Queue(sql::kReadAnswers, names);

  Claims claims;
  claims.claimed.resize(keys.size());
  claims.earlier.resize(keys.size());
  const Rows claimed = tx.Take(claiming);
  for (const auto row : claimed) {
    const auto at = std::find(names.begin(), names.end(), row.Text(0)) - names.begin();
    claims.claimed[static_cast<std::size_t>(at)] = true;
  }
  const Rows earlier = tx.Take(reading);
  for (const auto row : earlier)
    if (!claims.claimed[row.ordinal()])
      claims.earlier[row.ordinal()] =
          Claims::Before{std::string(row.Text(0)),
                         {row.Int(1), std::string(row.Text(2)), std::string(row.Text(3)), true}};
  // A name that was neither claimed nor found was forgotten between the two statements.
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (!claims.claimed[i] && !claims.earlier[i])
      throw base::Fault(base::FaultKind::kSerialization, "an idempotency key was just forgotten");
  return claims;
}

void KeepAnswers(Transaction& tx, const std::vector<std::string>& names,
                 const std::vector<Answer>& answers) {
  std::vector<std::string> kept;
  std::vector<std::string> given_back;
  std::vector<std::int64_t> statuses;
  std::vector<std::string> bodies;
  std::vector<std::string> locations;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!answers[i].final) {
      given_back.push_back(names[i]);
      continue;
    }
    kept.push_back(names[i]);
    statuses.push_back(answers[i].status);
    bodies.push_back(answers[i].body);
    locations.push_back(answers[i].location);
  }
  tx.Queue(sql::kKeepAnswers, kept, statuses, bodies, locations);
  tx.Queue(sql::kDropAnswers, given_back);
}

void ForgetHandler::WriteItems(Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    const auto rows = static_cast<std::int64_t>(
        tx.Run(sql::kForgetAnswers, now_ms - kAnswerRetentionMs, kForgetBatch).size());
    item->reply = ForgetReply{rows, rows == kForgetBatch};
  }
}

}  // namespace tenure::db
