// The inbox under the stepped scheduler: I1 and the exactly-once effect over whole histories, and
// planted bugs that must be found.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "db/postgres/engine.hpp"
#include "inbox/inbox.hpp"
#include "inbox_sql/queries.hpp"
#include "stepped/lock_watch.hpp"
#include "stepped/seeds.hpp"
#include "stepped/world.hpp"
#include "store/test_store.hpp"

namespace tenure::stepped {
namespace {

using inbox::BeginOutcome;
using inbox::FinishOutcome;
using inbox::MessageKey;

constexpr std::size_t kProcesses = 3;
constexpr int kBatchesPerProcess = 4;
constexpr std::int64_t kLeaseMs = 300;  // short, so that claims lapse in the middle of a run
constexpr std::int64_t kNeverMs = 1'000'000'000;

/// What is wrong on purpose.
enum class Planted { kNothing, kNoLock, kNoFloor, kClockBeforeLock };

const db::Query kNoLock{"inbox.lock_entries",
                        "select item.ordinal from unnest($1::text[], $2::text[], $3::text[]) with "
                        "ordinality as item (t, s, m, ordinal)",
                        ""};
const db::Query kNoFloor{
    "inbox.raise_floors",
    "select 1 from unnest($1::text[], $2::bigint[]) as item (t, f) where false", ""};
const db::Query kUsersComplete{
    "stepped.inbox_complete",
    "select 1::bigint from tenure.inbox_complete($1::text, $2::text, $3::bigint, null, $4::text)",
    ""};

/// A user's own transaction: an effect of its own (which nobody looks at) and the completion.
struct EffectRequest {
  MessageKey key{};
  std::int64_t fence = 0;
};
struct EffectReply {};
class EffectHandler final : public db::TypedHandler<EffectRequest, EffectReply> {
 public:
  std::string_view name() const override { return "stepped.effect"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override {
    for (auto* item : items) {
      const EffectRequest& request = item->request;
      tx.Run(kUsersComplete, std::string_view(request.key.source),
             std::string_view(request.key.message_id), request.fence,
             std::string_view(request.key.tenant));
      tx.TakeClock(tx.QueueClock());  // a further step at which it may be paused
      item->reply = EffectReply();
    }
  }
};

/// A simulated server process.
struct Server {
  std::unique_ptr<LockWatch> watch;
  std::unique_ptr<db::Store> store;
  std::unique_ptr<inbox::Inbox> inbox;
  int batches_left = 0;
};

/// Somebody was told to process.
struct Told {
  std::string id;
  base::Uuid term;
  std::int64_t fence = 0;
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
  int seen = 0;
};
/// Somebody was told that the message is done by its fence.
struct Completed {
  std::string id;
  std::int64_t fence = 0;
  int seen = 0;
  bool has_effect = false;
};

class InboxRun {
 public:
  InboxRun(store::TestStore& store, Planted planted) : store_(store), planted_(planted) {
    // tenure.inbox_complete goes by PostgreSQL's own clock: no claim may be over for it.
    store_.clock().Advance(base::SystemClock().WallMs() + kNeverMs - store_.clock().WallMs());
    world_ = std::make_unique<World>(
        store.url(), kProcesses,
        World::Callbacks{[this](std::size_t i) { return NextWork(i); },
                         [this](std::size_t i) { Restart(i); },
                         [this](std::size_t i) { return Connection(i).backend_pid(); },
                         [this] { store_.clock().Advance(static_cast<std::int64_t>(Random(20))); }},
        World::Odds{.crash_percent = 2});
    for (std::size_t i = 0; i < kProcesses; ++i) Restart(i);
  }

  /// Empty when nothing is wrong.
  std::string Run(std::uint64_t seed) {
    random_.seed(seed * 7919 + 17);
    violations_.clear();
    told_.clear();
    completed_.clear();
    failing_.clear();
    terms_.clear();
    tidied_ = false;
    tenant_ = fmt::format("r{}", ++runs_);
    for (Server& server : servers_) server.batches_left = kBatchesPerProcess;
    world_->Run(seed);
    if (world_->trace().find("deadlock") != std::string::npos)
      Violation("two transactions waited for each other");
    CheckFences();
    CheckClaims();
    CheckEnds();
    // Every claim and every back-off is over by then.
    store_.clock().Advance(100'000);
    for (const char* id : {"a", "b", "c"}) CheckGoesOn(id);
    if (violations_.empty()) return {};
    return fmt::format("seed {}:\n{}{}", seed, world_->trace(), violations_);
  }

 private:
  std::uint64_t Random(std::uint64_t bound) { return random_() % bound; }
  base::Uuid NewTerm() {
    base::Uuid term;
    for (auto& byte : term.bytes) byte = static_cast<std::uint8_t>(random_());
    return term;
  }
  MessageKey KeyOf(const std::string& id) const { return {tenant_, "source", id}; }
  db::postgres::PostgresConnection& Connection(std::size_t i) {
    return dynamic_cast<db::postgres::PostgresConnection&>(
        servers_[i].store->WriteLane(0).connection());
  }

  /// A new process in place of the old one: nothing is left of what it had in memory.
  void Restart(std::size_t i) {
    Server& server = servers_[i];
    server.inbox.reset();
    server.store.reset();
    server.watch =
        std::make_unique<LockWatch>(store_.clock(), world_->process(i), commits_,
                                    LockWatch::Steps{"inbox.add_entries", "inbox.load_entries"},
                                    planted_ == Planted::kClockBeforeLock);
    auto options = store_.PostgresOptions();
    options.lock_timeout_ms = 0;  // real time must decide nothing here
    options.statement_timeout_ms = 0;
    std::vector<const db::Query*> queries(options.queries.begin(), options.queries.end());
    for (const db::Query*& query : queries) {
      if (planted_ == Planted::kNoLock && query->name == kNoLock.name) query = &kNoLock;
      if (planted_ == Planted::kNoFloor && query->name == kNoFloor.name) query = &kNoFloor;
    }
    options.queries = queries_ = queries;
    options.test_clock = server.watch.get();
    db::StoreOptions lanes;
    lanes.write_lanes = 1;
    lanes.lanes.max_wait_ms = kNeverMs;
    server.store = std::make_unique<db::Store>(
        db::postgres::MakeEngine(std::move(options), "", store_.metrics()), lanes, store_.clock(),
        store_.metrics());
    server.store->Open();
    server.store->WriteLane(0).connection().SetHook(server.watch.get());
    // Nobody is given up here: every message must go on.
    server.inbox = std::make_unique<inbox::Inbox>(
        *server.store, inbox::Budget{.max_attempts = 1'000}, store_.metrics());
  }

  /// A batch of one to three commands on the same few messages, or something of its own.
  std::function<void()> NextWork(std::size_t i) {
    Server& server = servers_[i];
    if (server.batches_left-- == 0) return nullptr;
    server.watch->locked_at_ms = 0;
    const auto roll = Random(20);
    if (roll == 0)
      SubmitTidy(server);
    else if (roll <= 5 && !told_.empty())
      SubmitEffect(server);
    else
      for (auto count = 1 + Random(3); count > 0; --count) SubmitCommand(server);
    return [&server] {
      while (server.store->WriteLane(0).RunOnce()) {
      }
    };
  }

  void SubmitTidy(Server& server) {
    tidied_ = true;
    server.inbox->TidySome({.retention_ms = 100}, nullptr, [this](auto result) { Expect(result); });
  }

  void SubmitCommand(Server& server) {
    const auto roll = told_.empty() ? 0 : Random(10);
    if (roll < 6)
      SubmitBegin(server);
    else if (roll < 8)
      SubmitComplete(server);
    else
      SubmitFail(server);
  }

  void SubmitBegin(Server& server) {
    inbox::BeginCommand command{KeyOf(std::string(1, "abc"[Random(3)])), "", kLeaseMs, NewTerm()};
    // Now and then a delivery whose answer may have been lost.
    if (!terms_.empty() && Random(4) == 0) command.term = terms_[Random(terms_.size())];
    terms_.push_back(*command.term);
    server.inbox->Begin(command, nullptr,
                        [this, &server, command](const db::Result<BeginOutcome>& result) {
                          if (Expect(result)) Tell(server, command, result.value());
                        });
  }

  const Told& AnyTold() {
    return told_[told_.size() - 1 - Random(std::min<std::size_t>(told_.size(), 4))];
  }

  void SubmitComplete(Server& server) {
    const Told told = AnyTold();
    server.inbox->Complete({KeyOf(told.id), told.fence, ""}, nullptr,
                           [this, &server, told](const db::Result<FinishOutcome>& result) {
                             if (!Expect(result)) return;
                             if (result.value().kind == FinishOutcome::Kind::kAccepted)
                               completed_.push_back({told.id, told.fence, server.watch->seen});
                           });
  }

  void SubmitFail(Server& server) {
    const Told told = AnyTold();
    failing_.insert({told.id, told.fence});
    server.inbox->Fail({KeyOf(told.id), told.fence, "no"}, nullptr,
                       [this](const auto& result) { Expect(result); });
  }

  void SubmitEffect(Server& server) {
    const Told told = AnyTold();
    server.store->WriteLane(0).Submit(std::make_unique<EffectHandler::ItemType>(
        effect_, nullptr, 0, EffectRequest{KeyOf(told.id), told.fence},
        [this, &server, told](const db::Result<EffectReply>& result) {
          // TN002: stale, and so is the effect.
          if (!result.ok() && result.fault().kind() == base::FaultKind::kStatement) return;
          if (Expect(result)) completed_.push_back({told.id, told.fence, server.watch->seen, true});
        }));
  }

  void Tell(const Server& server, const inbox::BeginCommand& command, const BeginOutcome& outcome) {
    if (outcome.kind != BeginOutcome::Kind::kProcess) return;
    const std::int64_t from_ms = outcome.until_ms - kLeaseMs;
    // Only who sent a term alone was handed the message by this very batch.
    const bool alone = std::count(terms_.begin(), terms_.end(), *command.term) == 1;
    if (alone && from_ms < server.watch->locked_at_ms)
      Violation("a delivery was decided by a time from before its lock");
    told_.push_back({command.key.message_id, *command.term, outcome.fence, from_ms,
                     outcome.until_ms, server.watch->seen});
  }

  /// The only fault that a request may hear here is the lost reply.
  template <class Reply>
  bool Expect(const db::Result<Reply>& result) {
    if (!result.ok() && !result.fault().outcome_unknown())
      Violation(fmt::format("a request was answered with a fault: {}", result.fault().what()));
    return result.ok();
  }
  void Violation(const std::string& what) { violations_ += "  VIOLATION: " + what + "\n"; }

  /// A fence is told to one delivery only.
  void CheckFences() {
    for (const Told& one : told_)
      for (const Told& other : told_)
        if (one.id == other.id && one.fence == other.fence && one.term != other.term)
          return Violation(
              fmt::format("I1: fence {} of {} was told to two deliveries", one.fence, one.id));
  }

  /// No claim begins before the one before it is over: by its deadline, or by its own failure.
  void CheckClaims() {
    for (const Told& one : told_)
      for (const Told& later : told_)
        if (one.id == later.id && one.fence < later.fence && later.from_ms < one.until_ms &&
            !failing_.contains({one.id, one.fence}) && !tidied_)
          return Violation(fmt::format("I1: fence {} of {} was handed out while {} was live",
                                       later.fence, later.id, one.fence));
  }

  /// One claim completes a message, at most one effect is committed, and nobody is told to process
  /// it afterwards. (What was cleaned up begins anew.)
  void CheckEnds() {
    if (tidied_) return;
    for (const Completed& end : completed_) {
      int effects = 0;
      for (const Completed& other : completed_) {
        if (other.id != end.id) continue;
        effects += other.has_effect ? 1 : 0;
        if (other.fence != end.fence)
          return Violation(fmt::format("{} was completed by two claims", end.id));
      }
      if (effects > 1) return Violation(fmt::format("{} took effect twice", end.id));
      for (const Told& told : told_)
        if (told.id == end.id && told.seen > end.seen && told.fence != end.fence)
          return Violation(fmt::format("I1: {} was handed out after it was done", end.id));
    }
  }

  /// Whatever crashed: the next delivery is told to process it, or it is done.
  void CheckGoesOn(const std::string& id) {
    std::optional<db::Result<BeginOutcome>> answer;
    Server& server = servers_[0];
    server.store->WriteLane(0).connection().SetHook(nullptr);
    server.inbox->Begin({KeyOf(id), "", kLeaseMs, NewTerm()}, nullptr,
                        [&](db::Result<BeginOutcome> result) { answer = std::move(result); });
    store::Drive(*server.store);
    server.store->WriteLane(0).connection().SetHook(server.watch.get());
    if (!answer->ok()) throw answer->fault();
    const auto kind = answer->value().kind;
    const bool was_completed = std::any_of(completed_.begin(), completed_.end(),
                                           [&](const Completed& end) { return end.id == id; });
    if (kind != BeginOutcome::Kind::kProcess && kind != BeginOutcome::Kind::kDone)
      Violation(fmt::format("I1: {} cannot be had, though everybody is gone", id));
    if (was_completed && !tidied_ && kind != BeginOutcome::Kind::kDone)
      Violation(fmt::format("{} was completed, and that is forgotten", id));
  }

  store::TestStore& store_;
  const Planted planted_;
  EffectHandler effect_;
  std::atomic<int> commits_{0};
  std::vector<const db::Query*> queries_;
  std::array<Server, kProcesses> servers_;
  std::unique_ptr<World> world_;
  int runs_ = 0;

  // Of one run.
  std::mt19937_64 random_;
  std::string tenant_;
  bool tidied_ = false;
  std::vector<base::Uuid> terms_;
  std::vector<Told> told_;
  std::vector<Completed> completed_;
  std::set<std::pair<std::string, std::int64_t>> failing_;
  std::string violations_;
};

std::vector<const db::Query*> Queries() {
  const auto own = inbox::sql::All();
  std::vector<const db::Query*> all(own.begin(), own.end());
  all.push_back(&kUsersComplete);
  return all;
}

TEST(SteppedInbox, I1_HoldsInEveryInterleavingAndNothingDeadlocks) {
  store::TestStore store(store::EngineKind::kPostgres, Queries());
  InboxRun run(store, Planted::kNothing);
  ExpectEverySeedHolds(run);
}

/// Whether a seed finds the bug and says what it is.
bool IsFound(Planted planted, std::string_view by_name) {
  store::TestStore store(store::EngineKind::kPostgres, Queries());
  InboxRun run(store, planted);
  return FirstFinding(run, by_name) != 0;
}

TEST(SteppedInbox, APlantedDecisionWithoutALockIsFound) {
  EXPECT_TRUE(IsFound(Planted::kNoLock, "was told to two deliveries"));
}
TEST(SteppedInbox, APlantedRemovalWithoutAFloorIsFound) {
  EXPECT_TRUE(IsFound(Planted::kNoFloor, "was told to two deliveries"));
}
TEST(SteppedInbox, APlantedClockBeforeTheLockIsFound) {
  EXPECT_TRUE(IsFound(Planted::kClockBeforeLock, "by a time from before its lock"));
}

}  // namespace
}  // namespace tenure::stepped
