// Usage under the stepped scheduler: U1 and U2 over whole histories, and planted bugs that must be
// found.

#include <array>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "db/postgres/engine.hpp"
#include "messages_sql/queries.hpp"
#include "sessions_sql/queries.hpp"
#include "sim/usage_book.hpp"
#include "stepped/seeds.hpp"
#include "stepped/world.hpp"
#include "store/test_store.hpp"
#include "tasks/task.hpp"
#include "usage/usage.hpp"
#include "usage_sql/queries.hpp"

namespace tenure::stepped {
namespace {

using sessions::Kind;
using sim::UsageBook;
using usage::Delivered;
using usage::Post;
using usage::PostReply;

constexpr std::size_t kProcesses = 3;
constexpr int kBatchesPerProcess = 9;
constexpr std::int64_t kIntervalMs = 600;
constexpr std::int64_t kDurationMs =
    2'500;  // short, so that sessions expire in the middle of a run
constexpr std::int64_t kRetentionMs = 1'200;
constexpr std::int64_t kLeaseMs = 150;
constexpr std::int64_t kNeverMs = 1'000'000'000;

/// What is wrong on purpose.
enum class Planted {
  kNothing,
  kWriterWithoutSeal,    ///< who starts or ends sessions does not take the seal
  kClockBeforeSeal,      ///< … takes it when it has read bounds and clock
  kSealTakesNoLock,      ///< who closes a window waits for nobody
  kEmitComparesNothing,  ///< who puts sessions into chunks does not look who else did
  kHalvesBesideWhole,    ///< a chunk that is halved stays
  kFactorFromNow,        ///< a factor counts in the window under way
  kRemovedUnsettled,     ///< sessions are removed whether or not their usage is acknowledged
};

/// Another text in place of a query's own.
struct Replacement {
  const db::Query* query = nullptr;
  std::string_view part{};
  std::string_view by{};
};

constexpr std::string_view kSharedSeal = "pg_advisory_xact_lock_shared(hashtext('tenure.seal'))";

std::vector<Replacement> ReplacementsFor(Planted planted) {
  // Real time must decide nothing here: who waits for the seal does so for as long as it takes.
  std::vector<Replacement> all{
      {&sessions::sql::kLockSeal, "set_config('lock_timeout', '200', true)", "''"}};
  const Replacement no_seal{&sessions::sql::kLockSealShared, kSharedSeal, "''"};
  switch (planted) {
    case Planted::kNothing:
      break;
    case Planted::kWriterWithoutSeal:
      all.push_back(no_seal);
      break;
    case Planted::kClockBeforeSeal:
      all.push_back(no_seal);
      all.push_back({&sessions::sql::kEndSessions, "where s.id =",
                     "where (select pg_advisory_xact_lock_shared(hashtext('tenure.seal'))::text) "
                     "is not null and s.id ="});
      all.push_back(
          {&sessions::sql::kStartSessions,
           "as item (id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason)",
           "as item (id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason) "
           "where (select pg_advisory_xact_lock_shared("
           "hashtext('tenure.seal'))::text) is not null"});
      break;
    case Planted::kSealTakesNoLock:
      all.push_back(
          {&sessions::sql::kLockSeal, "pg_advisory_xact_lock(hashtext('tenure.seal'))", "''"});
      break;
    case Planted::kEmitComparesNothing:
      all.push_back(
          {&usage::sql::kAdvanceWindow, "and last_id = $2::uuid", "and $2::uuid is not null"});
      break;
    case Planted::kHalvesBesideWhole:
      all.push_back({&usage::sql::kDeleteChunks, "delete from tenure.usage_chunks c\n using",
                     "update tenure.usage_chunks c set format = c.format from"});
      break;
    case Planted::kFactorFromNow:
      all.push_back({&usage::sql::kPutFactors, "select kind, from_ms,",
                     "select kind, greatest(from_ms - 600, 0),"});
      break;
    case Planted::kRemovedUnsettled:
      all.push_back({&sessions::sql::kReadBounds, "select sealed_ms, settled_ms",
                     "select sealed_ms, sealed_ms"});
      break;
  }
  return all;
}

/// Of what processes do (UsageRun::Submit), in percent: what the bug is about, so that it is met
/// often.
struct Focus {
  std::uint64_t from = 0;
  std::uint64_t to = 100;
};
Focus FocusFor(Planted planted) {
  switch (planted) {
    case Planted::kWriterWithoutSeal:
    case Planted::kClockBeforeSeal:
    case Planted::kSealTakesNoLock:
      return {10, 52};
    case Planted::kEmitComparesNothing:
      return {38, 66};
    case Planted::kHalvesBesideWhole:
      return {52, 88};
    default:
      return {};
  }
}

/// Watches what a process's transactions run, and tells of every commit.
class Watch final : public db::StepHook {
 public:
  using Commit = std::function<void(const Watch&)>;
  Watch(db::StepHook& scheduler, Commit on_commit)
      : scheduler_(scheduler), on_commit_(std::move(on_commit)) {}

  void Before(std::string_view step) override {
    if (stepping) scheduler_.Before(step);
    if (step == "begin") queries.clear();
    queries.emplace(step);
  }
  void After(std::string_view step) override {
    if (step == "commit") on_commit_(*this);
    if (stepping) scheduler_.After(step);
  }

  bool stepping = true;
  std::set<std::string, std::less<>> queries{};  ///< of the transaction under way

 private:
  db::StepHook& scheduler_;
  const Commit on_commit_;
};

/// What PostgreSQL has on record, seen by nobody's transaction.
class Observer {
 public:
  explicit Observer(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
    TENURE_CHECK(PQstatus(connection_.get()) == CONNECTION_OK, PQerrorMessage(connection_.get()));
  }
  UsageBook::Rows Ask(const std::string& sql) {
    const std::unique_ptr<PGresult, Closer> result(PQexec(connection_.get(), sql.c_str()));
    const auto status = PQresultStatus(result.get());
    TENURE_CHECK(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK,
                 PQerrorMessage(connection_.get()));
    UsageBook::Rows rows;
    for (int i = 0; i < PQntuples(result.get()); ++i) {
      auto& row = rows.emplace_back();
      for (int column = 0; column < PQnfields(result.get()); ++column)
        row.emplace_back(PQgetvalue(result.get(), i, column));
    }
    return rows;
  }

 private:
  struct Closer {
    void operator()(PGconn* connection) const { PQfinish(connection); }
    void operator()(PGresult* result) const { PQclear(result); }
  };
  std::unique_ptr<PGconn, Closer> connection_;
};

/// A simulated server process.
struct Server {
  std::unique_ptr<Watch> watch{};
  std::unique_ptr<db::Store> store{};
  std::unique_ptr<wake::Registry> wake{};
  std::unique_ptr<sessions::Sessions> sessions{};
  std::unique_ptr<messages::Messages> messages{};
  std::unique_ptr<usage::Usage> usage{};
  std::unique_ptr<usage::Delivery> delivery{};
  std::atomic<db::Lane*> lane{nullptr};  ///< the one that runs
  int batches_left = 0;
};

class UsageRun {
 public:
  UsageRun(store::TestStore& store, Planted planted)
      : store_(store), planted_(planted), focus_(FocusFor(planted)), observer_(store.url()) {
    for (const Replacement& each : ReplacementsFor(planted)) Replace(each);
    world_ = std::make_unique<World>(
        store.url(), kProcesses,
        World::Callbacks{
            [this](std::size_t i) { return NextWork(i); }, [this](std::size_t i) { Restart(i); },
            [this](std::size_t i) { return BackendOf(i); }, [this] { BetweenSteps(); }},
        World::Odds{.crash_percent = 1, .pause_percent = 6});
    for (std::size_t i = 0; i < kProcesses; ++i) Restart(i);
  }

  /// Empty when nothing is wrong.
  std::string Run(std::uint64_t seed) {
    random_.seed(seed * 7919 + 17);
    violations_.clear();
    known_.clear();
    keys_seen_.clear();
    Clear();
    keys_.clear();
    for (int i = 0; i < 4; ++i) keys_.push_back(NewKey());
    book_ = std::make_unique<UsageBook>(
        UsageBook::Tables{[this](const std::string& sql) { return observer_.Ask(sql); }, "tenure.",
                          "replace({}::text, '-', '')"},
        std::set<std::int64_t>{kIntervalMs}, [this](const std::string& what) { Violation(what); });
    for (std::size_t i = 0; i < kProcesses; ++i) Forget(i);
    for (Server& server : servers_) server.batches_left = kBatchesPerProcess;
    Prepare();
    world_->Run(seed);
    if (world_->trace().find("deadlock") != std::string::npos)
      Violation("two transactions waited for each other");
    // A planted bug is to be found when it is committed.
    if (planted_ == Planted::kNothing) {
      if (violations_.empty()) Drain();
      if (violations_.empty()) book_->CheckEnd();
    }
    records_ += book_->applied();
    if (violations_.empty()) return {};
    return fmt::format("seed {}:\n{}{}", seed, world_->trace(), violations_);
  }
  std::int64_t records() const { return records_; }
  std::int64_t halved() const { return halved_; }
  std::int64_t sent_again() const { return sent_again_; }

 private:
  std::uint64_t Random(std::uint64_t bound) { return random_() % bound; }
  bool Chance(std::uint64_t percent) { return Random(100) < percent; }
  /// From the seed, so that a run is the same each time, in the same order of locks.
  sessions::Key NewKey() {
    sessions::Key key;
    for (auto* id : {&key.user, &key.capacity})
      for (auto& byte : id->bytes) byte = static_cast<std::uint8_t>(random_());
    return key;
  }
  int BackendOf(std::size_t i) {
    return dynamic_cast<db::postgres::PostgresConnection&>(servers_[i].lane.load()->connection())
        .backend_pid();
  }

  void Replace(const Replacement& replacement) {
    auto& text = texts_.emplace(replacement.query->name, replacement.query->postgres).first->second;
    const auto at = text.find(replacement.part);
    TENURE_CHECK(at != std::string::npos, "the query is another one by now");
    text.replace(at, replacement.part.size(), replacement.by);
    replaced_.insert_or_assign(replacement.query->name,
                               db::Query{replacement.query->name, text, ""});
  }

  void Clear() {
    observer_.Ask(
        "delete from tenure.sessions; delete from tenure.session_keys; "
        "delete from tenure.usage_windows; delete from tenure.usage_chunks; "
        "delete from tenure.usage_factors; delete from tenure.messages; "
        "delete from tenure.dead_letters; delete from tenure.message_claims; "
        "update tenure.session_bounds set sealed_ms = 0, settled_ms = 0, removed_ms = 0");
  }

  /// A new process in place of the old one: nothing is left of what it had in memory.
  void Restart(std::size_t i) {
    Server& server = servers_[i];
    Kill(server);
    server.store.reset();
    server.watch = std::make_unique<Watch>(
        world_->process(i), [this](const Watch& watch) { book_->Committed(watch.queries); });
    auto options = store_.PostgresOptions();
    options.lock_timeout_ms = 0;  // real time must decide nothing here
    options.statement_timeout_ms = 0;
    queries_.assign(options.queries.begin(), options.queries.end());
    for (const db::Query*& query : queries_)
      if (const auto found = replaced_.find(query->name); found != replaced_.end())
        query = &found->second;
    options.queries = queries_;
    db::StoreOptions lanes;
    lanes.write_lanes = 1;
    lanes.lanes.max_wait_ms = kNeverMs;
    server.store = std::make_unique<db::Store>(
        db::postgres::MakeEngine(std::move(options), "", store_.metrics()), lanes, store_.clock(),
        store_.metrics());
    server.store->Open();
    server.lane = &server.store->WriteLane(0);
    for (db::Lane* lane : server.store->AllLanes()) lane->connection().SetHook(server.watch.get());
    Forget(i);
  }

  static void Kill(Server& server) {
    server.delivery.reset();
    server.usage.reset();
    server.messages.reset();
    server.sessions.reset();
    server.wake.reset();
  }

  /// Nothing that it had in memory is left; its connections are.
  void Forget(std::size_t i) {
    Server& server = servers_[i];
    Kill(server);
    server.wake = std::make_unique<wake::Registry>(store_.clock());
    server.sessions = std::make_unique<sessions::Sessions>(
        *server.store, sessions::Options{kDurationMs, kRetentionMs}, store_.metrics());
    server.messages = std::make_unique<messages::Messages>(
        *server.store, *server.wake, "p" + std::to_string(i), store_.clock(), store_.metrics());
    usage::Options options;
    options.interval_ms = kIntervalMs;
    // Large, so that a millisecond is some micro-units, and odd, so that nothing divides evenly.
    options.factors = {9'876'543'211, 123'456'789'013, 1'000'000'007};
    options.chunk_size = 2;
    options.chunks_per_step = 1;
    options.retention_ms = 2 * kRetentionMs;
    options.send = true;
    server.usage = std::make_unique<usage::Usage>(*server.store, *server.sessions, *server.messages,
                                                  *server.wake, options, store_.metrics());
    server.delivery = std::make_unique<usage::Delivery>(usage::Delivery::Parts{
        .load = [&server](usage::ChunkName name,
                          auto done) { server.usage->Load(std::move(name), std::move(done)); },
        .change = [&server](
                      usage::ChunkChange change,
                      auto done) { server.usage->Change(std::move(change), std::move(done)); },
        .report =
            [&server](messages::ReportRequest request, auto done) {
              server.messages->Report(std::move(request), nullptr, std::move(done));
            },
        .post = [this](const Post& post, auto done) { done(Receive(post)); },
        .installation = "test"});
  }

  // What a process does.

  std::function<void()> NextWork(std::size_t i) {
    Server& server = servers_[i];
    if (server.batches_left-- == 0) return nullptr;
    Submit(server);
    return [&server] { Drive(server); };
  }

  /// All lanes of the process, one after the other.
  static void Drive(Server& server) {
    for (bool any = true; any;) {
      any = false;
      for (db::Lane* lane : server.store->AllLanes()) {
        server.lane = lane;
        any |= lane->RunOnce();
      }
    }
  }

  void Submit(Server& server) {
    const auto roll = focus_.from + Random(focus_.to - focus_.from);
    if (roll < 25) return SubmitPuts(server);
    if (roll < 35) return SubmitEnd(server);
    if (roll < 38) return server.sessions->ExpireSome({}, [this](auto r) { Expect(r); });
    if (roll < 52) return SubmitSeal(server, Chance(70) ? 100 : 1);
    if (roll < 66) return SubmitEmit(server, 1 + static_cast<int>(Random(4)));
    if (roll < 88) return SubmitDelivery(server);
    if (roll < 93) return SubmitFactor(server);
    SubmitUpkeep(server);
  }

  void SubmitPuts(Server& server) {
    for (auto count = 1 + Random(3); count > 0; --count) {
      const sessions::PutRequest request{tenant_, keys_[Random(keys_.size())],
                                         static_cast<Kind>(1 + Random(3))};
      server.sessions->Put(request, nullptr, [this](db::Result<sessions::PutReply> result) {
        if (Expect(result)) known_.push_back(result.value().session);
      });
    }
  }
  void SubmitEnd(Server& server) {
    if (known_.empty()) return SubmitPuts(server);
    const auto back = std::min<std::size_t>(known_.size(), 4);
    const sessions::Session& session = known_[known_.size() - 1 - Random(back)];
    server.sessions->End({session.id, session.key}, nullptr, [this](auto r) { Expect(r); });
  }

  /// One after the other, as the task does.
  void SubmitSeal(Server& server, int most) {
    server.usage->SealNext([this, &server, most](const db::Result<usage::SealReply>& result) {
      if (Expect(result) && result.value().sealed && most > 1) SubmitSeal(server, most - 1);
    });
  }
  void SubmitEmit(Server& server, int most) {
    server.usage->FindRanges([this, &server, most](db::Result<usage::RangesReply> result) {
      if (!Expect(result) || !result.value().window) return;
      server.usage->Emit(std::move(result.value()),
                         [this, &server, most](const db::Result<usage::EmitReply>& emitted) {
                           if (Expect(emitted) && most > 1) SubmitEmit(server, most - 1);
                         });
    });
  }

  void SubmitDelivery(Server& server) {
    server.messages->ReapSome({true}, [this, &server](const db::Result<messages::ReapReply>& r) {
      if (Expect(r)) SubmitPromotion(server);
    });
  }
  void SubmitPromotion(Server& server) {
    server.messages->PromoteSome([this, &server](const db::Result<messages::PromoteReply>& r) {
      if (Expect(r)) SubmitClaim(server);
    });
  }
  void SubmitClaim(Server& server) {
    messages::ClaimRequest request;
    request.tenant = tasks::kOwnTenant;
    request.topics.emplace_back(usage::kTopic);
    request.max = is_healthy_ ? 100 : 1 + static_cast<std::int64_t>(Random(3));
    request.lease_ms = kLeaseMs;
    request.owner = "sender";
    server.messages->Claim(
        std::move(request), nullptr, [this, &server](const db::Result<messages::ClaimReply>& r) {
          if (!Expect(r)) return;
          for (const auto& message : r.value().messages)
            server.delivery->Deliver(
                message, [this](const Delivered& delivered) { OnDelivered(delivered); });
        });
  }
  void OnDelivered(const Delivered& delivered) {
    ++delivered_;
    if (delivered.outcome == usage::Outcome::kHalved) ++halved_;
    if (delivered.error.find("has changed") != std::string::npos)
      Violation("U1: " + delivered.error);
  }

  /// The receiver: takes what it gets, or is down, or refuses; its answer may be lost. On the
  /// thread of the process that sends; everybody else stands, or waits for a lock.
  PostReply Receive(const Post& post) {
    if (!keys_seen_.insert(post.idempotency_key).second) ++sent_again_;
    const auto roll = is_healthy_ ? 99 : Random(100);
    const bool takes = roll >= 35 || roll < 15;
    book_->Received(post.idempotency_key, post.body, takes);
    if (roll < 15) return {.error = "the answer was lost"};
    if (roll < 20) return {.status = 503};
    if (roll < 35) return {.status = 413};
    return {.status = 200};
  }

  void SubmitFactor(Server& server) {
    const int kind = 1 + static_cast<int>(Random(3));
    const auto millionths =
        static_cast<std::int64_t>(Random(3) == 0 ? Random(1'000'000'000) : Random(500'000'000'000));
    server.usage->SetFactor(kind, millionths, nullptr, [this](auto r) { Expect(r); });
  }

  void SubmitUpkeep(Server& server) {
    server.usage->Settle([this, &server](const db::Result<usage::SettleReply>& result) {
      if (Expect(result)) server.sessions->RemoveSome({}, [this](auto r) { Expect(r); });
    });
  }

  /// The faults that a request may hear here: a lost reply, and "ask again" where it never waits.
  template <class Reply>
  bool Expect(const db::Result<Reply>& result) {
    if (!result.ok() && !result.fault().outcome_unknown() &&
        result.fault().kind() != base::FaultKind::kContended)
      Violation(fmt::format("a request was answered with a fault: {}", result.fault().what()));
    return result.ok();
  }

  void BetweenSteps() {
    store_.clock().Advance(static_cast<std::int64_t>(Random(8)));
    // What matters happens around the end of a window.
    constexpr std::int64_t kShortlyBeforeMs = 20;
    const std::int64_t left_ms = kIntervalMs - store_.clock().WallMs() % kIntervalMs;
    if (Chance(3) && left_ms > kShortlyBeforeMs) store_.clock().Advance(left_ms - kShortlyBeforeMs);
    if (Chance(2)) store_.clock().StepWall(-static_cast<std::int64_t>(Random(150)));
    if (Chance(1)) store_.clock().StepWall(static_cast<std::int64_t>(Random(250)));
  }
  void Violation(const std::string& what) { violations_ += "  VIOLATION: " + what + "\n"; }

  // Before and after: the first process alone, without a scheduler.

  template <class Submit>
  void Alone(Submit submit) {
    Server& server = servers_[0];
    server.watch->stepping = false;
    submit(server);
    Drive(server);
    server.watch->stepping = true;
  }

  /// Something to close, to emit and to send from the first step on.
  void Prepare() {
    Alone([&](Server& server) { SetUpTopic(server); });
    for (int i = 0; i < 3; ++i) Alone([&](Server& server) { SubmitPuts(server); });
    store_.clock().Advance(3 * kIntervalMs);
    Alone([&](Server& server) { SubmitSeal(server, 2); });
    Alone([&](Server& server) { SubmitEmit(server, 2); });
  }

  /// As the sender does it.
  void SetUpTopic(Server& server) {
    messages::TopicChange change;
    change.tenant = tasks::kOwnTenant;
    change.name = usage::kTopic;
    change.max_attempts = 0;
    change.max_crashes = 0;
    server.messages->ChangeTopic(std::move(change), nullptr, [this](auto r) { Expect(r); });
  }

  /// Whatever crashed: one healthy process closes, emits and delivers what is left.
  void Drain() {
    is_healthy_ = true;
    store_.clock().Advance(2 * kIntervalMs);
    Alone([&](Server& server) { SubmitSeal(server, 1'000); });
    Alone([&](Server& server) { SubmitEmit(server, 1'000); });
    for (int round = 0; round < 40 && violations_.empty() && !book_->IsDelivered(); ++round) {
      store_.clock().Advance(60'000);
      Alone([&](Server& server) { Redrive(server); });
      do {
        delivered_ = 0;
        Alone([&](Server& server) { SubmitDelivery(server); });
      } while (delivered_ > 0 && violations_.empty());
    }
    is_healthy_ = false;
  }
  void Redrive(Server& server) {
    messages::DeadChangeRequest request;
    request.filter.tenant = tasks::kOwnTenant;
    server.messages->ChangeDead(request, nullptr, [this](auto r) { Expect(r); });
  }

  store::TestStore& store_;
  const Planted planted_;
  const Focus focus_;
  Observer observer_;
  const base::Uuid tenant_ = base::Uuid::V7(1);
  std::map<std::string_view, std::string> texts_;  // in place of the queries' own
  std::map<std::string_view, db::Query> replaced_;
  std::vector<const db::Query*> queries_;
  std::array<Server, kProcesses> servers_;
  std::unique_ptr<World> world_;
  std::int64_t records_ = 0;
  std::int64_t halved_ = 0;
  std::int64_t sent_again_ = 0;

  // Of one run.
  std::mt19937_64 random_;
  std::unique_ptr<UsageBook> book_;
  std::vector<sessions::Key> keys_;
  std::vector<sessions::Session> known_;
  std::set<std::string> keys_seen_;
  int delivered_ = 0;
  bool is_healthy_ = false;
  std::string violations_;
};

std::vector<const db::Query*> Queries() {
  std::vector<const db::Query*> all;
  for (const auto module : {usage::sql::All(), sessions::sql::All(), messages::sql::All()})
    all.insert(all.end(), module.begin(), module.end());
  return all;
}

TEST(SteppedUsage, U1_U2_HoldInEveryInterleavingAndNothingDeadlocks) {
  store::TestStore store(store::EngineKind::kPostgres, Queries());
  UsageRun run(store, Planted::kNothing);
  const std::int64_t seeds = ExpectEverySeedHolds(run);
  std::cout << run.records() << " records, " << run.halved() << " chunks halved, "
            << run.sent_again() << " requests sent again\n";
  EXPECT_GE(run.records(), seeds * 10);
  EXPECT_GE(run.halved(), seeds / 10);
  EXPECT_GE(run.sent_again(), seeds / 10);
}

/// Whether a seed finds the bug and says what it is.
bool IsFound(Planted planted, std::string_view by_name) {
  store::TestStore store(store::EngineKind::kPostgres, Queries());
  UsageRun run(store, planted);
  return FirstFinding(run, by_name) != 0;
}

TEST(SteppedUsage, U1_APlantedWriterThatDoesNotTakeTheSealIsFound) {
  EXPECT_TRUE(IsFound(Planted::kWriterWithoutSeal, "in a window that was closed"));
}
TEST(SteppedUsage, U1_APlantedWriterThatTakesTheSealAfterTheClockIsFound) {
  EXPECT_TRUE(IsFound(Planted::kClockBeforeSeal, "in a window that was closed"));
}
TEST(SteppedUsage, U1_APlantedSealWithoutALockIsFound) {
  EXPECT_TRUE(IsFound(Planted::kSealTakesNoLock, "in a window that was closed"));
}
TEST(SteppedUsage, U2_APlantedEmissionThatComparesNothingIsFound) {
  EXPECT_TRUE(IsFound(Planted::kEmitComparesNothing, "VIOLATION"));
}
TEST(SteppedUsage, U2_APlantedHalvingThatLeavesTheWholeIsFound) {
  EXPECT_TRUE(IsFound(Planted::kHalvesBesideWhole, "was not struck off by who did"));
}
TEST(SteppedUsage, U1_APlantedFactorForTheWindowUnderWayIsFound) {
  EXPECT_TRUE(IsFound(Planted::kFactorFromNow, "counts from"));
}
TEST(SteppedUsage, U1_APlantedRemovalOfUnsettledSessionsIsFound) {
  EXPECT_TRUE(IsFound(Planted::kRemovedUnsettled, "was removed"));
}

}  // namespace
}  // namespace tenure::stepped
