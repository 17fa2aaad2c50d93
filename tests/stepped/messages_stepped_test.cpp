// Messages and timers under the stepped scheduler: M1, M2 and M3 over whole histories, beside
// users' own transactions, and planted bugs that must be found.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "db/postgres/engine.hpp"
#include "messages/messages.hpp"
#include "messages_sql/queries.hpp"
#include "sim/message_book.hpp"
#include "stepped/message_pictures.hpp"
#include "stepped/seeds.hpp"
#include "stepped/world.hpp"
#include "store/test_store.hpp"

namespace tenure::stepped {
namespace {

using messages::ClaimReply;
using messages::ClaimRequest;
using messages::HeartbeatRequest;
using messages::Verdict;
using sim::MessageBook;
using Claim = MessageBook::Claim;

constexpr std::size_t kProcesses = 3;
constexpr int kBatchesPerProcess = 4;
constexpr std::int64_t kLeaseMs = 150;  // short, so that claims lapse in the middle of a run
constexpr std::int64_t kNeverMs = 1'000'000'000;
constexpr std::int64_t kMaxAttempts = 2;
constexpr std::int64_t kMaxCrashes = 2;
constexpr auto kRolledBack = base::FaultKind::kTimeout;

/// By the user, also with another user of this batch; or because of TN001: stale, and so is the
/// effect.
bool IsRolledBack(const base::Fault& fault) {
  return fault.kind() == kRolledBack ||
         std::string_view(fault.what()).find("is stale") != std::string_view::npos;
}

/// What is wrong on purpose.
enum class Planted {
  kNothing,
  kFindWithoutLock,    ///< a claim hands out what it saw, and did not lock
  kReportWithoutLock,  ///< reports and the reaper decide on what they saw, and did not lock
};

const db::Query kUsersEnqueue{
    "stepped.enqueue",
    "select 1::bigint from tenure.enqueue($1::text, to_jsonb($2::bigint), "
    "tenant => $3::text)",
    ""};
const db::Query kUsersAcknowledge{
    "stepped.acknowledge",
    "select 1::bigint from tenure.acknowledge($1::text::uuid, $2::bigint, "
    "null, $3::text)",
    ""};

/// A transaction of a user: a message goes in, or one is acknowledged beside its effect; then it
/// takes its time, and commits or rolls back.
struct UsersRequest {
  std::string tenant{};
  std::string topic{};         ///< enqueue
  std::int64_t number = 0;     ///< enqueue
  std::optional<Claim> ack{};  ///< acknowledge
  bool rolls_back = false;
};
struct UsersReply {};
class UsersHandler final : public db::TypedHandler<UsersRequest, UsersReply> {
 public:
  std::string_view name() const override { return "stepped.user"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override {
    for (auto* item : items) {
      const UsersRequest& request = item->request;
      const std::string_view tenant = request.tenant;
      if (request.ack)
        tx.Run(kUsersAcknowledge, std::string_view(request.ack->first.ToString()),
               request.ack->second, tenant);
      else
        tx.Run(kUsersEnqueue, std::string_view(request.topic), request.number, tenant);
      tx.TakeClock(tx.QueueClock());  // further steps at which it may be paused
      tx.TakeClock(tx.QueueClock());
      if (request.rolls_back) throw base::Fault(kRolledBack, "rolled back");
      item->reply = UsersReply();
    }
  }
};

/// Watches one process: what its transactions run, and what there is to be seen meanwhile.
class Watch final : public db::StepHook {
 public:
  using Commit = std::function<void(const Watch&)>;
  Watch(db::StepHook& scheduler, MessageBook*& book, Commit on_commit)
      : scheduler_(scheduler), book_(book), on_commit_(std::move(on_commit)) {}

  void Before(std::string_view step) override {
    if (stepping) scheduler_.Before(step);
    if (step == "begin") {
      queries.clear();
      seen.assign(1, book_->latest());
    }
    if (step == "messages.find_ready") paused_when_it_looked = book_->picture().paused;
    queries.emplace(step);
    if (step == kUsersEnqueue.name) queries.emplace("messages.insert_messages");
    if (step == kUsersAcknowledge.name) queries.emplace("messages.finish_messages");
  }
  void After(std::string_view step) override {
    if (step == "commit") on_commit_(*this);
    if (stepping) scheduler_.After(step);
  }
  /// Somebody committed.
  void Look() { seen.push_back(book_->latest()); }

  bool stepping = true;
  std::set<std::string, std::less<>> queries{};  ///< of the transaction under way
  std::vector<std::shared_ptr<const sim::Picture>> seen{};
  std::set<std::string> paused_when_it_looked{};

 private:
  db::StepHook& scheduler_;
  MessageBook*& book_;
  const Commit on_commit_;
};

/// A simulated server process.
struct Server {
  std::unique_ptr<Watch> watch{};
  std::unique_ptr<db::Store> store{};
  std::unique_ptr<wake::Registry> wake{};
  std::unique_ptr<messages::Messages> messages{};
  std::atomic<db::Lane*> lane{nullptr};  ///< the one that runs
  int batches_left = 0;
  /// With a heartbeat; 0: not on record.
  std::int64_t worker = 0;
  std::vector<std::pair<base::Uuid, std::size_t>> batches{};  ///< its claims, and how many of each
};

class MessageRun {
 public:
  MessageRun(store::TestStore& store, Planted planted)
      : store_(store), planted_(planted), pictures_(store.url()) {
    // tenure.enqueue goes by PostgreSQL's own clock: what it puts in must be due for everybody.
    store_.clock().Advance(base::SystemClock().WallMs() + kNeverMs - store_.clock().WallMs());
    Plant();
    world_ = std::make_unique<World>(
        store.url(), kProcesses,
        World::Callbacks{[this](std::size_t i) { return NextWork(i); },
                         [this](std::size_t i) { Restart(i); },
                         [this](std::size_t i) { return BackendOf(i); },
                         [this] { store_.clock().Advance(static_cast<std::int64_t>(Random(20))); }},
        World::Odds{.crash_percent = 2});
    for (std::size_t i = 0; i < kProcesses; ++i) Restart(i);
  }

  /// Empty when nothing is wrong.
  std::string Run(std::uint64_t seed) {
    random_.seed(seed * 7919 + 17);
    violations_.clear();
    told_.clear();
    sent_.clear();
    named_.clear();
    number_ = 0;
    tenant_ = fmt::format("r{}", ++runs_);
    current_ =
        std::make_unique<MessageBook>(MessageBook::Limits{kMaxAttempts, kMaxCrashes, kNeverMs},
                                      [this](const std::string& what) { Violation(what); });
    book_ = current_.get();
    // What a process remembers of earlier runs must play no part.
    for (std::size_t i = 0; i < kProcesses; ++i) Forget(i);
    for (Server& server : servers_) server.batches_left = kBatchesPerProcess;
    Prepare();
    world_->Run(seed);
    if (world_->trace().find("deadlock") != std::string::npos)
      Violation("two transactions waited for each other");
    if (violations_.empty()) Drain();
    if (violations_.empty()) return {};
    return fmt::format("seed {}:\n{}{}", seed, world_->trace(), violations_);
  }
  std::int64_t claims() const { return claims_; }

 private:
  std::uint64_t Random(std::uint64_t bound) { return random_() % bound; }
  bool Chance(std::uint64_t percent) { return Random(100) < percent; }
  /// One that there is, or one that nobody has heard of at first.
  std::string AnyTopic() { return Chance(20) ? "new" : Chance(50) ? "a" : "b"; }

  int BackendOf(std::size_t i) {
    return dynamic_cast<db::postgres::PostgresConnection&>(servers_[i].lane.load()->connection())
        .backend_pid();
  }

  /// Another text in place of a query's own.
  void Replace(const db::Query& query, std::string_view part, std::string_view by) {
    std::string text(query.postgres);
    const auto at = text.find(part);
    TENURE_CHECK(at != std::string::npos, "the query is another one by now");
    planted_text_ = text.replace(at, part.size(), by);
    planted_query_ = {query.name, planted_text_, ""};
  }
  void Plant() {
    switch (planted_) {
      case Planted::kFindWithoutLock:
        return Replace(messages::sql::kFindReady, "for update skip locked", "");
      case Planted::kReportWithoutLock:
        return Replace(messages::sql::kLockMessages, "for update of m skip locked", "");
      case Planted::kNothing:
        return;
    }
  }

  /// A new process in place of the old one: nothing is left of what it had in memory.
  void Restart(std::size_t i) {
    Server& server = servers_[i];
    server.messages.reset();
    server.wake.reset();
    server.store.reset();
    server.watch = std::make_unique<Watch>(world_->process(i), book_,
                                           [this](const Watch& watch) { OnCommit(watch); });
    auto options = store_.PostgresOptions();
    options.lock_timeout_ms = 0;  // real time must decide nothing here
    options.statement_timeout_ms = 0;
    queries_.assign(options.queries.begin(), options.queries.end());
    for (const db::Query*& query : queries_)
      if (query->name == planted_query_.name) query = &planted_query_;
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

  /// Nothing that it had in memory is left; its connections are.
  void Forget(std::size_t i) {
    Server& server = servers_[i];
    server.messages.reset();
    server.worker = 0;
    server.batches.clear();
    server.wake = std::make_unique<wake::Registry>(store_.clock());
    server.messages = std::make_unique<messages::Messages>(
        *server.store, *server.wake, "p" + std::to_string(i), store_.clock(), store_.metrics());
  }

  /// On the process's thread; everybody else stands, or waits for a lock.
  void OnCommit(const Watch& watch) {
    sim::Picture picture = pictures_.Read(tenant_, store_.clock().WallMs());
    // A claim that looked before the pause was committed may hand out what it found; no other.
    std::erase_if(picture.paused, [&](const std::string& topic) {
      return watch.queries.contains("messages.find_ready") &&
             !watch.paused_when_it_looked.contains(topic);
    });
    book_->Committed(watch.queries, std::move(picture), store_.clock().BootMs());
    for (Server& server : servers_) server.watch->Look();
  }

  // What a process does.

  std::function<void()> NextWork(std::size_t i) {
    Server& server = servers_[i];
    if (server.batches_left-- == 0) return nullptr;
    for (auto count = 1 + Random(2); count > 0; --count) Submit(server);
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
    const auto roll = Random(100);
    if (roll < 12) return SubmitEnqueue(server);
    if (roll < 20) return SubmitUser(server, false);
    if (roll < 38) return SubmitClaim(server);
    if (roll < 62) return SubmitReport(server);
    if (roll < 68) return SubmitUser(server, true);
    if (roll < 78) return server.messages->ReapSome({true}, [this](auto r) { Expect(r); });
    if (roll < 83) return server.messages->PromoteSome([this](auto r) { Expect(r); });
    if (roll < 87) return SubmitCancel(server);
    if (roll < 93) return SubmitHeartbeat(server);
    if (roll < 96) return SubmitPause(server);
    SubmitDeadChange(server);
  }

  void SubmitEnqueue(Server& server) {
    messages::NewMessage message;
    message.topic = AnyTopic();
    message.payload = std::to_string(++number_);
    if (Chance(40)) message.delay_ms = static_cast<std::int64_t>(Random(200));
    if (message.topic != "new" && Chance(25)) message.dedup_key = message.topic;
    book_->AskEnqueue(number_, message.dedup_key);
    server.messages->Enqueue(
        {.tenant = tenant_, .messages = {message}}, nullptr,
        [this, number = number_](const db::Result<messages::EnqueueReply>& result) {
          if (!Expect(result)) return;
          book_->Enqueued(number, result.value().messages.front());
          sent_.push_back(result.value().messages.front().id);
        });
  }

  void SubmitUser(Server& server, bool acknowledges) {
    if (acknowledges && told_.empty()) return;
    UsersRequest request{tenant_, AnyTopic(), 0, {}, Chance(40)};
    if (acknowledges) {
      request.ack = AnyTold();
      book_->AskReport(Verdict::kDone, *request.ack);
    } else {
      request.number = ++number_;
      book_->AskEnqueue(number_, "");
    }
    server.store->WriteLane(0).Submit(std::make_unique<UsersHandler::ItemType>(
        acknowledges ? user_acknowledges_ : user_enqueues_, nullptr, 0, request,
        [this, request](const db::Result<UsersReply>& result) {
          if (!result.ok() && result.fault().outcome_unknown()) return;
          if (!request.ack && !result.ok()) book_->NotEnqueued(request.number);
          if (!request.ack || (!result.ok() && IsRolledBack(result.fault()))) return;
          if (Expect(result))
            book_->Reported({}, Verdict::kDone, *request.ack, messages::ReportOutcome::kDone, 0);
        }));
  }

  void SubmitClaim(Server& server) {
    ClaimRequest request;
    request.tenant = tenant_;
    request.topics =
        Chance(50) ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{AnyTopic()};
    request.max = 1 + static_cast<std::int64_t>(Random(3));
    request.owner = "somebody";
    request.lease_ms = kLeaseMs;
    if (server.worker != 0 && Chance(50)) {
      request.worker = server.worker;
      request.started = 0;
    } else if (Chance(30)) {
      request.claim_id = base::Uuid();
      for (auto& byte : request.claim_id->bytes) byte = static_cast<std::uint8_t>(random_());
      named_.push_back(request);
    } else if (!named_.empty() && Chance(30)) {
      request = named_[Random(named_.size())];  // the answer may have been lost
    }
    server.messages->Claim(request, nullptr,
                           [this, &server, request](const db::Result<ClaimReply>& result) {
                             if (Expect(result)) OnClaimed(server, request, result.value());
                           });
  }

  void OnClaimed(Server& server, const ClaimRequest& request, const ClaimReply& reply) {
    book_->Claimed(server.watch->seen, request, reply);
    for (const auto& each : reply.messages) told_.emplace_back(each.id, each.fence);
    if (request.worker && !reply.messages.empty())
      server.batches.emplace_back(reply.claim, reply.messages.size());
  }

  Claim AnyTold() {
    return told_[told_.size() - 1 - Random(std::min<std::size_t>(told_.size(), 4))];
  }

  void SubmitReport(Server& server) {
    if (told_.empty()) return SubmitClaim(server);
    static constexpr Verdict kVerdicts[] = {Verdict::kDone, Verdict::kDone,      Verdict::kRetry,
                                            Verdict::kDead, Verdict::kUntouched, Verdict::kExtend};
    const Verdict verdict = kVerdicts[Random(std::size(kVerdicts))];
    std::vector<Claim> claims{AnyTold()};
    if (Chance(50)) claims.push_back(AnyTold());
    SendReports(server, verdict, claims);
  }

  void SendReports(Server& server, Verdict verdict, const std::vector<Claim>& claims) {
    messages::ReportRequest request{tenant_, verdict, {}, kLeaseMs};
    for (const Claim& claim : claims) {
      book_->AskReport(verdict, claim);
      request.reports.push_back({claim.first, claim.second, "", 0, ""});
    }
    server.messages->Report(
        std::move(request), nullptr,
        [this, &server, verdict, claims](const db::Result<messages::ReportResult>& result) {
          if (!Expect(result)) return;
          for (std::size_t i = 0; i < claims.size(); ++i)
            book_->Reported(server.watch->seen, verdict, claims[i],
                            result.value().reply.outcomes[i], -kNeverMs);
        });
  }

  void SubmitCancel(Server& server) {
    if (sent_.empty()) return;
    const base::Uuid id = sent_[Random(sent_.size())];
    book_->AskCancel(id);
    server.messages->Cancel({tenant_, id}, nullptr,
                            [this, &server, id](const db::Result<messages::CancelReply>& result) {
                              if (Expect(result))
                                book_->Cancelled(server.watch->seen, id, result.value().outcome);
                            });
  }

  /// The process is also a worker: it joins, says that it lives, begins, or is quiet for longer
  /// than it is believed to live.
  void SubmitHeartbeat(Server& server) {
    if (Chance(20)) store_.clock().Advance(messages::kWorkerTtlMs);
    if (server.worker != 0 && !server.batches.empty() && Chance(50)) {
      const auto& [claim, size] = server.batches.back();
      return server.messages->Started({tenant_, claim, 1 + static_cast<std::int64_t>(Random(size))},
                                      [this](const auto& result) { Expect(result); });
    }
    const bool joins = server.worker == 0;
    const std::int64_t worker = joins ? messages::NewWorker() : server.worker;
    const auto kind = joins ? HeartbeatRequest::Kind::kJoin : HeartbeatRequest::Kind::kBeat;
    server.messages->Heartbeat(
        {kind, worker, tenant_, "worker"},
        [this, &server, worker](const db::Result<messages::HeartbeatReply>& result) {
          if (!Expect(result)) return;
          book_->Beaten(server.watch->seen, worker, result.value().alive);
          server.worker = result.value().alive ? worker : 0;
          if (!result.value().alive) server.batches.clear();
        });
  }

  void SubmitPause(Server& server) { ChangeTopic(server, AnyTopic(), Chance(50)); }

  void ChangeTopic(Server& server, const std::string& topic, bool paused) {
    messages::TopicChange change;
    change.tenant = tenant_;
    change.name = topic;
    change.paused = paused;
    change.max_attempts = kMaxAttempts;
    change.max_crashes = kMaxCrashes;
    change.dedup_ms = kNeverMs;
    change.retention_ms = topic == "a" ? kNeverMs : 0;
    server.messages->ChangeTopic(change, nullptr, [this](const auto& result) { Expect(result); });
  }

  void SubmitDeadChange(Server& server) {
    messages::DeadChangeRequest request;
    request.kind = Chance(70) ? messages::DeadChangeRequest::Kind::kRedrive
                              : messages::DeadChangeRequest::Kind::kDiscard;
    request.filter.tenant = tenant_;
    server.messages->ChangeDead(request, nullptr, [this](const auto& result) { Expect(result); });
  }

  /// The faults that a request may hear here: a lost reply, and "ask again" while a transaction is
  /// about to acknowledge the message.
  template <class Reply>
  bool Expect(const db::Result<Reply>& result) {
    if (!result.ok() && !result.fault().outcome_unknown() &&
        result.fault().kind() != base::FaultKind::kContended)
      Violation(fmt::format("a request was answered with a fault: {}", result.fault().what()));
    return result.ok();
  }
  void Violation(const std::string& what) { violations_ += "  VIOLATION: " + what + "\n"; }

  // Before and after: the first process alone, without a scheduler.

  void Alone(const std::function<void(Server&)>& submit) {
    Server& server = servers_[0];
    server.watch->stepping = false;
    submit(server);
    Drive(server);
    server.watch->stepping = true;
  }

  /// Topics with their limits, and something to fight for.
  void Prepare() {
    Alone([&](Server& server) {
      for (const char* topic : {"a", "b"}) ChangeTopic(server, topic, false);
    });
    Alone([&](Server& server) {
      for (int i = 0; i < 4; ++i) SubmitEnqueue(server);
    });
  }

  /// Whatever crashed: one healthy consumer gets and finishes all that is left. Late commits lie
  /// below its low-water marks by now.
  void Drain() {
    Alone([&](Server& server) {
      for (const char* topic : {"a", "b", "new"}) ChangeTopic(server, topic, false);
    });
    for (int round = 0; round < 6 && violations_.empty(); ++round) {
      store_.clock().Advance(31'000);
      Alone([&](Server& server) { server.messages->ReapSome({true}, [](const auto&) {}); });
      Alone([&](Server& server) { server.messages->PromoteSome([](const auto&) {}); });
      while (violations_.empty() && TakeAndFinish()) {
      }
      if (IsDrained()) {
        claims_ += book_->claims();
        return;
      }
    }
    if (violations_.empty()) Violation("M1: something is left that nobody can have");
  }

  bool TakeAndFinish() {
    std::vector<Claim> claims;
    Alone([&](Server& server) {
      ClaimRequest request;
      request.tenant = tenant_;
      request.topics = {"a", "b", "new"};
      request.owner = "somebody";
      server.messages->Claim(request, nullptr, [&, request](const auto& result) {
        if (!Expect(result)) return;
        OnClaimed(server, request, result.value());
        for (const auto& each : result.value().messages) claims.emplace_back(each.id, each.fence);
      });
    });
    if (claims.empty()) return false;
    Alone([&](Server& server) { SendReports(server, Verdict::kDone, claims); });
    return true;
  }

  bool IsDrained() {
    const sim::Picture& picture = book_->picture();
    return picture.claims.empty() && picture.workers.empty() &&
           std::all_of(picture.messages.begin(), picture.messages.end(), [](const auto& entry) {
             return entry.second.place == sim::Place::kDead ||
                    entry.second.place == sim::Place::kFinished;
           });
  }

  store::TestStore& store_;
  const Planted planted_;
  MessagePictures pictures_;
  std::string planted_text_;
  db::Query planted_query_{"", "", ""};
  UsersHandler user_enqueues_;
  UsersHandler user_acknowledges_;
  std::vector<const db::Query*> queries_;
  std::unique_ptr<MessageBook> current_ =
      std::make_unique<MessageBook>(MessageBook::Limits{}, [](const std::string&) {});
  MessageBook* book_ = current_.get();
  std::array<Server, kProcesses> servers_;
  std::unique_ptr<World> world_;
  int runs_ = 0;
  std::int64_t claims_ = 0;

  // Of one run.
  std::mt19937_64 random_;
  std::string tenant_;
  std::int64_t number_ = 0;  // of the last enqueue
  std::vector<Claim> told_;
  std::vector<base::Uuid> sent_;
  std::vector<ClaimRequest> named_;
  std::string violations_;
};

std::vector<const db::Query*> Queries() {
  const auto own = messages::sql::All();
  std::vector<const db::Query*> all(own.begin(), own.end());
  all.push_back(&kUsersEnqueue);
  all.push_back(&kUsersAcknowledge);
  return all;
}

TEST(SteppedMessages, M1_M2_M3_HoldInEveryInterleavingAndNothingDeadlocks) {
  store::TestStore store(store::EngineKind::kPostgres, Queries());
  MessageRun run(store, Planted::kNothing);
  const std::int64_t seeds = ExpectEverySeedHolds(run);
  std::cout << run.claims() << " messages were handed out\n";
  EXPECT_GE(run.claims(), seeds * 5);
}

/// Whether a seed finds the bug and says what it is.
bool IsFound(Planted planted, std::string_view by_name) {
  store::TestStore store(store::EngineKind::kPostgres, Queries());
  MessageRun run(store, planted);
  return FirstFinding(run, by_name) != 0;
}

TEST(SteppedMessages, M2_APlantedClaimWithoutALockIsFound) {
  EXPECT_TRUE(IsFound(Planted::kFindWithoutLock, "VIOLATION: M"));
}
TEST(SteppedMessages, M2_APlantedReportWithoutALockIsFound) {
  EXPECT_TRUE(IsFound(Planted::kReportWithoutLock, "VIOLATION: M"));
}

}  // namespace
}  // namespace tenure::stepped
