// What a lane promises (lane.hpp), on real stores. The lanes are driven by hand, except where
// threads are the point.

#include "db/lane.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/keys.hpp"
#include "store/test_store.hpp"

namespace tenure::db {
namespace {

using base::FaultKind;
using store::EngineKind;
using testing::ElementsAre;

// A table that every store has: name (unique) and value.
const Query kInsert{"test.insert",
                    "insert into tenure.settings (name, value) "
                    "select name, value from unnest($1::text[], $2::text[]) as item (name, value)",
                    "insert into settings (name, value) values (?1, ?2)"};
const Query kRead{
    "test.read",
    "select item.ordinal, s.value from unnest($1::text[]) with ordinality as item (name, ordinal) "
    "join tenure.settings s on s.name = item.name",
    "select value from settings where name = ?1"};
const Query* const kLaneQueries[] = {&kInsert, &kRead};

struct Pair {
  std::string name;
  std::string value;

  std::size_t bytes() const { return BytesOf(name, value); }
};

class InsertHandler final : public TypedHandler<Pair, std::string> {
 public:
  std::string_view name() const override { return "test.insert"; }
  std::vector<std::size_t> batches;  // sizes, also of those that failed

 protected:
  void WriteItems(Transaction& tx, Items items) override {
    batches.push_back(items.size());
    for (auto* item : items) item->reply = item->request.value;
    const auto requests = Requests(items);
    tx.Queue(kInsert, Columns(requests, &Pair::name, &Pair::value));
  }
};

/// Decides two at a time, and tells its batches' results.
class PairsHandler final : public TypedHandler<Pair, std::string, std::vector<std::string>> {
 public:
  std::string_view name() const override { return "test.pairs"; }
  std::vector<std::vector<std::string>> results;  // what Done got
  std::vector<std::size_t> answered;              // how many operations it got with them

 protected:
  std::vector<std::string> WriteItems(Transaction& tx, Items items) override {
    const Items now = items.first(std::min<std::size_t>(items.size(), 2));
    std::vector<std::string> inserted;
    for (auto* item : now) {
      item->reply = item->request.value;
      inserted.push_back(item->request.name);
    }
    const auto requests = Requests(now);
    tx.Queue(kInsert, Columns(requests, &Pair::name, &Pair::value));
    return inserted;
  }
  void DoneItems(Items items, const std::vector<std::string>& inserted) override {
    results.push_back(inserted);
    answered.push_back(items.size());
  }
};

class ReadHandler final : public TypedHandler<std::string, std::optional<std::string>> {
 public:
  std::string_view name() const override { return "test.read"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(Transaction& tx, Items items) override {
    std::vector<std::string> names;
    for (auto* item : items) {
      names.push_back(item->request);
      item->reply.emplace();
    }
    const Rows rows = tx.Run(kRead, names);
    for (const std::string& name : names)
      if (name == "too much") throw base::Fault(FaultKind::kContended, "it took too long");
    for (const auto row : rows) *items[row.ordinal()]->reply = std::string(row.Text(0));
  }
};

/// What became of each request: its reply, or the fault's name.
struct Outcomes {
  std::map<std::string, std::string> by_name;

  auto For(const std::string& name) {
    return [this, name](Result<std::string> result) {
      const bool first =
          by_name
              .emplace(name,
                       result.ok() ? result.value() : std::string(ToText(result.fault().kind())))
              .second;
      EXPECT_TRUE(first) << name << " was completed twice";
    };
  }
};

class LaneTest : public testing::TestWithParam<EngineKind> {
 protected:
  LaneTest() : store_(GetParam(), kLaneQueries) {}

  void Open(const LaneOptions& lanes = {}) {
    StoreOptions options;
    options.write_lanes = 1;
    options.lanes = lanes;
    process_.reset();
    process_ = store_.NewProcess(options);
  }
  Lane& lane() { return process_->WriteLane(0); }

  void Insert(const std::string& name, const std::string& value = "v") {
    lane().Submit(std::make_unique<InsertHandler::ItemType>(
        insert_, nullptr, std::hash<std::string>()(name), Pair{name, value}, outcomes_.For(name)));
  }
  std::optional<std::string> Read(const std::string& name) {
    std::optional<std::string> found;
    lane().Submit(std::make_unique<ReadHandler::ItemType>(
        read_, nullptr, 0, name,
        [&](Result<std::optional<std::string>> result) { found = result.value(); }));
    store::Drive(*process_);
    return found;
  }
  void Drive() { store::Drive(*process_); }
  /// Of this lane, by the end of the metric's name.
  std::uint64_t Counted(const std::string& what) {
    return store_.metrics().GetCounter("tenure_lane_" + what, "", {{"lane", "write-0"}}).value();
  }
  const std::string& Outcome(const std::string& name) { return outcomes_.by_name.at(name); }

  store::TestStore store_;
  std::unique_ptr<Store> process_;
  InsertHandler insert_;
  ReadHandler read_;
  Outcomes outcomes_;
};

/// Throws once, at one step.
class ThrowOnce final : public StepHook {
 public:
  ThrowOnce(std::string step, FaultKind kind) : step_(std::move(step)), kind_(kind) {}
  void Before(std::string_view step) override {
    if (step != step_ || std::exchange(done_, true)) return;
    if (action) action();
    if (kind_ != FaultKind::kOutcomeUnknown) throw base::Fault(kind_, "planted");
  }
  void After(std::string_view) override {}
  std::function<void()> action;

 private:
  const std::string step_;
  const FaultKind kind_;
  bool done_ = false;
};

TEST_P(LaneTest, WhatWaitsIsOneTransactionAndEachOperationGetsItsOwnReply) {
  Open();
  for (int i = 0; i < 100; ++i) Insert("n" + std::to_string(i), "v" + std::to_string(i));
  Drive();
  EXPECT_THAT(insert_.batches, ElementsAre(100));
  EXPECT_EQ(Outcome("n7"), "v7");
  EXPECT_EQ(Read("n99"), "v99");
  EXPECT_EQ(Read("unknown"), std::nullopt);
}

/// A home whose rounds end when the test says so. Everything on the test's thread, except Post.
class Rounds final : public base::Executor {
 public:
  void Post(base::Task task) override { task(); }
  void Afterwards(base::Task task) override { put_off_.push_back(std::move(task)); }

  std::size_t put_off() const { return put_off_.size(); }
  void End() {
    for (base::Task& task : std::exchange(put_off_, {})) task();
  }

 private:
  std::vector<base::Task> put_off_;
};

/// Counts what a lane's thread completes.
class Completions {
 public:
  auto Next() {
    ++begun_;
    return [this](const Result<std::string>&) {
      const std::lock_guard lock(mutex_);
      ++done_;
      changed_.notify_all();
    };
  }
  void AwaitAll() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return done_ == begun_; });
  }

 private:
  int begun_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  int done_ = 0;  // guarded by mutex_
};

class LaneRounds : public LaneTest {
 protected:
  void SetUp() override {
    Open();
    process_->Start();
  }
  void TearDown() override { process_->Stop(); }

  void InsertFrom(base::Executor* home) {
    lane().Submit(std::make_unique<InsertHandler::ItemType>(
        insert_, home, 0, Pair{std::to_string(next_++), "v"}, completions_.Next()));
  }
  /// From the home, until the lane was found asleep: then it has not begun with the last one.
  void InsertIntoSleep() {
    for (int attempt = 0; attempt < 1'000; ++attempt) {
      InsertFrom(&rounds_);
      if (rounds_.put_off() > 0) return;
      completions_.AwaitAll();
    }
    FAIL() << "the lane never waits for the end of a round";
  }

  Rounds rounds_;
  Completions completions_;
  int next_ = 0;
};

TEST_P(LaneRounds, WhatComesInOneRoundIsOneBatch) {
  // A lane that sleeps looks after its connection once a second and would begin then. That a test
  // is held up for so long may happen, but not every time.
  for (int attempt = 0; attempt < 20; ++attempt) {
    ASSERT_NO_FATAL_FAILURE(InsertIntoSleep());
    for (int i = 0; i < 4; ++i) InsertFrom(&rounds_);
    EXPECT_EQ(rounds_.put_off(), 1u) << "it is woken once";
    rounds_.End();
    completions_.AwaitAll();
    if (insert_.batches.back() == 5) return;
  }
  ADD_FAILURE() << "the operations of a round were never one batch";
}

TEST_P(LaneRounds, WhoeverComesFromAnotherHomeWaitsForItsOwnRoundOnly) {
  ASSERT_NO_FATAL_FAILURE(InsertIntoSleep());
  Rounds others;
  const int begun = next_;
  InsertFrom(&others);
  ASSERT_EQ(next_, begun + 1);
  EXPECT_EQ(others.put_off(), 1u) << "it relies on another home's promise";
  others.End();
  completions_.AwaitAll();  // though the first one's round goes on
  rounds_.End();
}

TEST_P(LaneRounds, WhoeverHasNoRoundsWaitsForNobodys) {
  ASSERT_NO_FATAL_FAILURE(InsertIntoSleep());
  InsertFrom(nullptr);
  completions_.AwaitAll();
  rounds_.End();
  ASSERT_NO_FATAL_FAILURE(InsertIntoSleep());  // the lane can still be put to sleep and woken
  rounds_.End();
  completions_.AwaitAll();
}

INSTANTIATE_TEST_SUITE_P(Stores, LaneRounds,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres),
                         store::EngineName);

TEST_P(LaneTest, ABatchIsBoundedByItemsAndBytes) {
  Open({.batch_items = 3});
  for (int i = 0; i < 7; ++i) Insert("n" + std::to_string(i));
  Drive();
  EXPECT_THAT(insert_.batches, ElementsAre(3, 3, 1));

  const Pair each{"n10", "v"};
  Open({.batch_bytes = 2 * (256 + each.bytes())});
  for (int i = 10; i < 15; ++i) Insert("n" + std::to_string(i));
  insert_.batches.clear();
  Drive();
  EXPECT_THAT(insert_.batches, ElementsAre(2, 2, 1));
}

TEST_P(LaneTest, WhatABatchLeavesIsTheNextOneAndDoneGetsEachBatchsResult) {
  Open();
  PairsHandler pairs;
  for (const char* name : {"a", "b", "c", "d", "e"})
    lane().Submit(std::make_unique<PairsHandler::ItemType>(pairs, nullptr, 0, Pair{name, "v"},
                                                           outcomes_.For(name)));
  Drive();
  EXPECT_THAT(pairs.results,
              ElementsAre(ElementsAre("a", "b"), ElementsAre("c", "d"), ElementsAre("e")));
  EXPECT_THAT(pairs.answered, ElementsAre(2, 2, 1));
  for (const char* name : {"a", "b", "c", "d", "e"}) EXPECT_EQ(Outcome(name), "v");
}

TEST_P(LaneTest, AnOperationThatBreaksItsBatchFailsAloneAndTheOthersAreCarriedOut) {
  Open();
  Insert("taken");
  Drive();
  outcomes_.by_name.clear();
  insert_.batches.clear();
  Insert("before");
  Insert("taken");
  Insert("after");
  Drive();
  EXPECT_EQ(Outcome("before"), "v");
  EXPECT_EQ(Outcome("taken"), "internal");
  EXPECT_EQ(Outcome("after"), "v");
  EXPECT_EQ(insert_.batches.front(), 3u);
  EXPECT_EQ(Read("after"), "v");
}

TEST_P(LaneTest, ALookThatIsTooMuchForTheStoreFailsAlone) {
  Open();
  Insert("a");
  Drive();
  std::map<std::string, std::string> seen;
  for (const std::string name : {"a", "too much", "unknown"})
    lane().Submit(std::make_unique<ReadHandler::ItemType>(
        read_, nullptr, 0, name, [&seen, name](Result<std::optional<std::string>> result) {
          seen[name] = result.ok() ? result.value().value_or("none")
                                   : std::string(ToText(result.fault().kind()));
        }));
  Drive();
  EXPECT_EQ(seen["a"], "v");
  EXPECT_EQ(seen["too much"], "contended");
  EXPECT_EQ(seen["unknown"], "none");
}

TEST_P(LaneTest, AFullQueueRefusesAtOnceAndDrainsAgain) {
  Open({.queue_items = 2});
  Insert("a");
  Insert("b");
  Insert("c");
  EXPECT_EQ(Outcome("c"), "overloaded");
  EXPECT_EQ(Counted("refused_total"), 1u);
  Drive();
  EXPECT_EQ(Outcome("a"), "v");
  Insert("d");
  Drive();
  EXPECT_EQ(Outcome("d"), "v");
  EXPECT_EQ(Read("c"), std::nullopt);
}

TEST_P(LaneTest, WhatWaitsBehindABatchIsCounted) {
  Open({.batch_items = 1});
  std::int64_t waiting = 0;
  ThrowOnce look("test.insert", FaultKind::kOutcomeUnknown);  // looks, and throws nothing
  look.action = [&] {
    waiting =
        store_.metrics().GetGauge("tenure_lane_queue_items", "", {{"lane", "write-0"}}).value();
  };
  lane().connection().SetHook(&look);
  for (const char* name : {"a", "b", "c"}) Insert(name);
  Drive();
  lane().connection().SetHook(nullptr);
  EXPECT_EQ(waiting, 2);
}

TEST_P(LaneTest, AnOperationLargerThanTheQueueIsTakenWhenItStandsAlone) {
  Open({.queue_bytes = 100});
  Insert("large");
  Insert("second");
  Drive();
  EXPECT_EQ(Outcome("large"), "v");
  EXPECT_EQ(Outcome("second"), "overloaded");
}

TEST_P(LaneTest, AnOperationWhoseTurnComesTooLateIsNotBegun) {
  Open({.max_wait_ms = 1'000});
  Insert("late");
  store_.clock().Advance(1'001);
  Insert("fresh");
  Drive();
  EXPECT_EQ(Outcome("late"), "timeout");
  EXPECT_EQ(Outcome("fresh"), "v");
  EXPECT_EQ(Read("late"), std::nullopt);
}

TEST_P(LaneTest, ASerializationFailureRunsTheBatchAgain) {
  Open();
  ThrowOnce hook("test.insert", FaultKind::kSerialization);
  lane().connection().SetHook(&hook);
  Insert("a");
  Insert("b");
  Drive();
  EXPECT_EQ(Outcome("a"), "v");
  EXPECT_EQ(Outcome("b"), "v");
  EXPECT_THAT(insert_.batches, ElementsAre(2, 2));
  EXPECT_EQ(Counted("batches_retried_total"), 1u);
  lane().connection().SetHook(nullptr);
}

TEST_P(LaneTest, WhatFailedIsRolledBack) {
  Open();
  ThrowOnce hook("commit", FaultKind::kStatement);
  lane().connection().SetHook(&hook);
  Insert("gone");
  Drive();
  lane().connection().SetHook(nullptr);
  EXPECT_EQ(Outcome("gone"), "internal");
  EXPECT_EQ(Read("gone"), std::nullopt);
  Insert("next");
  Drive();
  EXPECT_EQ(Outcome("next"), "v");
}

TEST_P(LaneTest, OperationsOfOneKindKeepTheirOrderAndKindsTakeTurns) {
  Open({.batch_items = 1});
  std::vector<std::string> order;
  for (const char* name : {"a", "b"})
    lane().Submit(std::make_unique<InsertHandler::ItemType>(
        insert_, nullptr, 0, Pair{name, "v"},
        [&order, name](Result<std::string>) { order.emplace_back(name); }));
  lane().Submit(std::make_unique<ReadHandler::ItemType>(
      read_, nullptr, 0, "a",
      [&order](Result<std::optional<std::string>>) { order.emplace_back("read"); }));
  Drive();
  ASSERT_EQ(order.size(), 3u);
  const auto at = [&](const char* what) { return std::find(order.begin(), order.end(), what); };
  EXPECT_LT(at("a"), at("b"));
  EXPECT_NE(order.back(), "read") << "a kind waited for all of the other";
}

TEST_P(LaneTest, StopFinishesWhatWaitsAndRefusesWhatComesAfter) {
  Open();
  std::atomic<int> done = 0;
  std::atomic<int> refused = 0;
  process_->Start();
  {
    std::vector<std::jthread> clients;
    for (int client = 0; client < 4; ++client)
      clients.emplace_back([&, client] {
        for (int i = 0; i < 50; ++i)
          lane().Submit(std::make_unique<InsertHandler::ItemType>(
              insert_, nullptr, 0, Pair{std::to_string(client * 1000 + i), "v"},
              [&](Result<std::string> result) { ++(result.ok() ? done : refused); }));
      });
  }
  process_->Stop();
  EXPECT_EQ(done, 200);
  Insert("too late");
  EXPECT_EQ(Outcome("too late"), "stopping");
  EXPECT_EQ(store_.Number("select count(*) from settings", "select count(*) from tenure.settings"),
            200);
}

INSTANTIATE_TEST_SUITE_P(Stores, LaneTest,
                         testing::Values(EngineKind::kSqlite, EngineKind::kSharedSqlite,
                                         EngineKind::kPostgres),
                         store::EngineName);

class PostgresLaneTest : public LaneTest {};

TEST_P(PostgresLaneTest, AConnectionThatDiedWhileIdleIsReplacedWithoutAnybodyNoticing) {
  Open();
  Insert("a");
  Drive();
  support::SharedPostgres().KillAllBackends();
  Insert("b");
  Drive();
  EXPECT_EQ(Outcome("b"), "v");
  support::SharedPostgres().KillAllBackends();
  EXPECT_EQ(Read("b"), "v");
}

TEST_P(PostgresLaneTest, AConnectionLostInCommitIsAnUnknownOutcome) {
  Open();
  auto& postgres = support::SharedPostgres();
  const std::string database = store_.url().substr(store_.url().rfind('/') + 1);
  // COMMIT runs deferred triggers: this one keeps it from ending until the connection is cut.
  postgres.Execute(database,
                   "create function linger() returns trigger language plpgsql as "
                   "$$ begin perform pg_sleep(60); return null; end $$; "
                   "create constraint trigger linger after insert on tenure.settings "
                   "deferrable initially deferred for each row execute function linger()");
  Insert("perhaps");
  {
    const std::jthread cutter([&] {
      while (postgres.Execute(
                 database, "select count(*) from pg_stat_activity where wait_event = 'PgSleep'") !=
             "1") {
      }
      postgres.KillAllBackends();
    });
    Drive();
  }
  EXPECT_EQ(Outcome("perhaps"), "outcome-unknown");
  postgres.Execute(database, "drop trigger linger on tenure.settings");
  Insert("next");
  Drive();
  EXPECT_EQ(Outcome("next"), "v");
}

TEST_P(PostgresLaneTest, AConnectionLostBetweenItsFlushesIsTriedAgain) {
  Open();
  ThrowOnce hook("commit", FaultKind::kOutcomeUnknown);
  hook.action = [] { support::SharedPostgres().KillAllBackends(); };
  lane().connection().SetHook(&hook);
  Insert("a");
  Drive();
  EXPECT_EQ(Outcome("a"), "v") << "COMMIT was never sent";
  lane().connection().SetHook(nullptr);
}

TEST_P(PostgresLaneTest, AConnectionLostBeforeCommitIsTriedAgain) {
  Open();
  ThrowOnce hook("test.insert", FaultKind::kOutcomeUnknown);
  hook.action = [] { support::SharedPostgres().KillAllBackends(); };
  lane().connection().SetHook(&hook);
  Insert("a");
  Drive();
  EXPECT_EQ(Outcome("a"), "v");
  lane().connection().SetHook(nullptr);
}

TEST_P(PostgresLaneTest, ALockThatIsNotToBeHadIsContendedAndNothingElseFails) {
  Open();
  // Somebody's own transaction holds a name that the batch wants to insert.
  PGconn* stranger = PQconnectdb(store_.url().c_str());
  PQclear(PQexec(stranger, "begin; insert into tenure.settings values ('held', 'x')"));
  Insert("free");
  Insert("held");
  Drive();
  EXPECT_EQ(Outcome("free"), "v");
  EXPECT_EQ(Outcome("held"), "contended");
  PQfinish(stranger);
}

INSTANTIATE_TEST_SUITE_P(Stores, PostgresLaneTest, testing::Values(EngineKind::kPostgres),
                         store::EngineName);

/// A store that is down may take so long to come back.
constexpr std::chrono::seconds kPatience(60);

TEST(LaneDown, AStoreThatIsGoneIsToldAtOnceAndComesBackByItself) {
  support::PostgresCluster cluster;
  telemetry::Registry metrics;
  postgres::ConnectionOptions options;
  options.url = cluster.Url();
  options.pooled = true;  // nothing is prepared: the query's table does not exist
  postgres::SeenLog seen;
  Lane lane(
      "test",
      std::make_unique<postgres::PostgresConnection>(
          options, metrics,
          [](PGconn&, const auto&) { return postgres::PostgresConnection::Inspected(); }, seen),
      {}, base::SystemClock(), metrics);
  ReadHandler handler;
  lane.Start();
  const auto ask = [&] {
    const auto kind = std::make_shared<std::promise<FaultKind>>();
    auto answer = kind->get_future();
    lane.Submit(std::make_unique<ReadHandler::ItemType>(
        handler, nullptr, 0, "x", [kind](Result<std::optional<std::string>> result) {
          kind->set_value(result.fault().kind());  // there is no such table: a fault in any case
        }));
    if (answer.wait_for(kPatience) != std::future_status::ready)
      throw std::runtime_error("the lane does not answer");
    return answer.get();
  };
  const auto await = [&](FaultKind wanted) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (ask() != wanted && std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    EXPECT_EQ(ask(), wanted);
  };
  EXPECT_EQ(ask(), FaultKind::kStatement);
  cluster.Stop(support::PostgresCluster::StopMode::kImmediate);
  await(FaultKind::kStoreUnavailable);
  EXPECT_FALSE(lane.is_up());
  cluster.Start();
  await(FaultKind::kStatement);
  EXPECT_TRUE(lane.is_up());
}

}  // namespace
}  // namespace tenure::db
