// Sessions under the stepped scheduler: S1 over whole histories, and planted bugs that must be
// found.

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sessions/sessions.hpp"
#include "sessions_sql/queries.hpp"
#include "stepped/frame.hpp"

namespace tenure::stepped {
namespace {

using sessions::Kind;
using sessions::PutReply;
using sessions::PutStatus;
using sessions::Session;

constexpr std::int64_t kDurationMs = 400;  // short, so that sessions expire in the middle of a run

/// What is wrong on purpose.
enum class SessionBug { kNothing, kLockAndReadInOneStatement, kClockBeforeLock };

/// The bug "lock and read in one statement": the statement waits for the lock and then reads on the
/// snapshot from before it waited.
const db::Query kSessionNoLock{
    "sessions.lock_keys", "select 1 from unnest($1::uuid[], $2::uuid[]) as item (u, c) where false",
    ""};
const db::Query kSessionLockAndRead{"sessions.load_latest",
                                    R"(with locked as (
  insert into tenure.session_keys (user_id, capacity_id)
  select u, c from unnest($1::uuid[], $2::uuid[]) as item (u, c) order by u, c
  on conflict (user_id, capacity_id) do update set user_id = excluded.user_id where false
)
select item.ordinal, s.id, s.tenant, s.user_id, s.capacity_id, s.turn, s.kind, s.start_ms, s.end_ms, s.end_reason
  from unnest($1::uuid[], $2::uuid[]) with ordinality as item (user_id, capacity_id, ordinal)
 cross join lateral (select * from tenure.sessions s
                      where s.user_id = item.user_id and s.capacity_id = item.capacity_id
                      order by s.turn desc limit 1) s)",
                                    ""};

struct SessionServer final : Server {
  explicit SessionServer(Process& its)
      : process(its), sessions(its.store(), {kDurationMs, kNeverMs}, its.metrics()) {}

  Process& process;
  sessions::Sessions sessions;
};

struct Answer {
  sessions::PutRequest request;
  PutReply reply;
};

class SessionRun final : public Frame {
 public:
  explicit SessionRun(SessionBug planted)
      : Frame({.queries = QueriesOf({sessions::sql::All()}),
               .tables = {"sessions", "session_keys"},
               .lock_step = "sessions.lock_keys",
               .early_clock = planted == SessionBug::kClockBeforeLock}) {
    if (planted != SessionBug::kLockAndReadInOneStatement) return;
    Plant(kSessionNoLock);
    Plant(kSessionLockAndRead);
  }

  /// Answers of all seeds that were compared with the tables.
  std::size_t judged() const { return judged_; }

 private:
  std::unique_ptr<Server> Boot(Process& process) override {
    return std::make_unique<SessionServer>(process);
  }

  void Begin() override {
    answers_.clear();
    known_.clear();
    by_id_.clear();
    keys_ = {NewKey(), NewKey()};
  }
  sessions::Key NewKey() {
    const base::Uuid user = NewId();
    return {user, NewId()};
  }

  /// A batch of one to three requests on the same few keys.
  void Submit(Process& process) override {
    auto& server = ServerOf<SessionServer>(process);
    const auto roll = Random(10);
    if (roll == 0) {
      server.sessions.ExpireSome({}, Expected());
    } else if (roll <= 2 && !known_.empty()) {
      const Session session = known_[Random(known_.size())];
      server.sessions.End({session.id, session.key}, nullptr, Expected());
    } else {
      for (auto count = 1 + Random(3); count > 0; --count) SubmitPut(server);
    }
  }

  void SubmitPut(SessionServer& server) {
    const sessions::PutRequest request{tenant_, keys_[Random(keys_.size())],
                                       static_cast<Kind>(1 + Random(3))};
    server.sessions.Put(request, nullptr, [this, &server, request](db::Result<PutReply> result) {
      if (!Expect(result)) return;
      if (result.value().now_ms < server.process.locked_at_ms)
        Violation("a request was decided by a time from before its lock");
      answers_.push_back({request, result.value()});
      known_.push_back(result.value().session);
    });
  }

  void BetweenSteps() override {
    Frame::BetweenSteps();
    if (Random(50) == 0) {
      clock().StepWall(-30);
      for (std::size_t i = 0; i < kProcesses; ++i) process(i).locked_at_ms -= 30;
    }
    // S1 at every instant: of committed rows at most one per key is open.
    const auto twice = tables().Number(
        "select count(*) from (select from tenure.sessions where end_reason is null "
        "group by user_id, capacity_id having count(*) > 1) twice");
    if (twice > 0) Violation("a key has two open sessions");
  }

  void Judge() override {
    judged_ += answers_.size();
    for (const auto& key : keys_) CheckKey(key);
    for (const Answer& answer : answers_) CheckAnswer(answer);
  }

  std::vector<Session> Rows(const sessions::Key& key) {
    auto rows = Ask<sessions::ListReply>([&](Process& process, auto done) {
                  ServerOf<SessionServer>(process).sessions.List({.user = key.user, .limit = 1'000},
                                                                 nullptr, std::move(done));
                }).rows;
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.turn < b.turn; });
    return rows;
  }

  /// Of one key: turns without a gap, intervals that do not overlap, upgrades without one.
  void CheckKey(const sessions::Key& key) {
    const auto rows = Rows(key);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Session& session = rows[i];
      by_id_[session.id] = session;
      if (session.turn != static_cast<std::int64_t>(i) + 1) Violation("turns have a gap");
      if (session.end_ms < session.start_ms) Violation("a session ends before it starts");
      if (i + 1 == rows.size()) continue;
      const Session& next = rows[i + 1];
      if (!session.end_reason) Violation("an open session has a successor");
      if (next.start_ms < session.end_ms)
        Violation(fmt::format("sessions of a key overlap: [{}, {}) and [{}, {})",
                              Since(session.start_ms), Since(session.end_ms), Since(next.start_ms),
                              Since(next.end_ms)));
      if (session.end_reason == sessions::EndReason::kUpgraded &&
          (next.start_ms != session.end_ms || next.kind <= session.kind))
        Violation("an upgrade is not one instant, or does not rise");
    }
  }

  /// What was answered is in the store: principle 3.
  void CheckAnswer(const Answer& answer) {
    const Session& said = answer.reply.session;
    const auto found = by_id_.find(said.id);
    if (found == by_id_.end()) return Violation("an answered session is not in the store");
    const Session& row = found->second;
    if (row.kind != said.kind || row.start_ms != said.start_ms || row.turn != said.turn)
      Violation("an answered session differs from its row");
    if (row.kind < answer.request.kind) Violation("a lower kind was answered than asked for");
    if (answer.reply.now_ms >= said.end_ms) Violation("an ended session was answered as active");
  }

  const base::Uuid tenant_ = base::Uuid::V7(1);
  std::size_t judged_ = 0;
  std::vector<sessions::Key> keys_;
  std::vector<Answer> answers_;
  std::vector<Session> known_;
  std::map<base::Uuid, Session> by_id_;
};

TEST(SteppedSessions, S1_HoldsInEveryInterleaving) {
  SessionRun run(SessionBug::kNothing);
  const std::int64_t seeds = support::ExpectEverySeedHolds(run, kSeeds);
  EXPECT_GT(run.judged(), static_cast<std::size_t>(seeds)) << "several answers of each seed";
}

std::uint64_t ExpectFound(SessionBug planted) {
  return support::ExpectFound(SessionRun(planted), kSeedsForABug, "VIOLATION");
}

TEST(SteppedSessions, APlantedLockAndReadInOneStatementIsFound) {
  ExpectFound(SessionBug::kLockAndReadInOneStatement);
}

TEST(SteppedSessions, APlantedClockBeforeTheLockIsFound) {
  ExpectFound(SessionBug::kClockBeforeLock);
}

TEST(SteppedSessions, ASeedReplaysExactly) {
  const std::uint64_t seed = ExpectFound(SessionBug::kLockAndReadInOneStatement);
  SessionRun one(SessionBug::kLockAndReadInOneStatement);
  SessionRun another(SessionBug::kLockAndReadInOneStatement);
  another.Run(1'000);  // what ran before plays no part
  EXPECT_NE(one.Run(seed), "");
  support::ExpectTheSame(one, another, seed);
}

}  // namespace
}  // namespace tenure::stepped
