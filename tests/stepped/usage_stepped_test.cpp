// Usage under the stepped scheduler: U1 and U2 over whole histories, and planted bugs that must be
// found.

#include <iostream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "messages_sql/queries.hpp"
#include "sessions_sql/queries.hpp"
#include "sim/usage_book.hpp"
#include "stepped/frame.hpp"
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

constexpr std::int64_t kIntervalMs = 600;
constexpr std::int64_t kDurationMs = 2'500;  // short: sessions expire in the middle of a run
constexpr std::int64_t kRetentionMs = 1'200;
constexpr std::int64_t kLeaseMs = 150;

/// Another text in place of a query's own.
struct Replacement {
  const db::Query* query = nullptr;
  std::string_view part{};
  std::string_view by{};
};

/// Of what processes do (UsageRun::Submit), in percent: what a bug is about, so that it is met
/// often.
struct Focus {
  std::uint64_t from = 0;
  std::uint64_t to = 100;
};

/// What is wrong on purpose, and the words by which it must be found.
struct UsageBug {
  std::string_view what{};
  std::string_view found_by{};
  std::vector<Replacement> replacements{};
  Focus focus{};
};

std::vector<UsageBug> UsageBugs() {
  const Replacement no_seal{&sessions::sql::kLockSealShared,
                            "pg_advisory_xact_lock_shared(hashtext('tenure.seal'))", "''"};
  const Focus around_the_seal{10, 52};
  return {
      {"who starts or ends sessions does not take the seal",
       "in a window that was closed",
       {no_seal},
       around_the_seal},
      {"… takes it when it has read bounds and clock",
       "in a window that was closed",
       {no_seal,
        {&sessions::sql::kEndSessions, "where s.id =",
         "where (select pg_advisory_xact_lock_shared(hashtext('tenure.seal'))::text) "
         "is not null and s.id ="},
        {&sessions::sql::kStartSessions,
         "as item (id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason)",
         "as item (id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason) "
         "where (select pg_advisory_xact_lock_shared("
         "hashtext('tenure.seal'))::text) is not null"}},
       around_the_seal},
      {"who closes a window waits for nobody",
       "in a window that was closed",
       {{&sessions::sql::kLockSeal, "pg_advisory_xact_lock(hashtext('tenure.seal'))", "''"}},
       around_the_seal},
      {"who puts sessions into chunks does not look who else did",
       "VIOLATION",
       {{&usage::sql::kAdvanceWindow, "and last_id = $2::uuid", "and $2::uuid is not null"}},
       {38, 66}},
      {"a chunk that is halved stays",
       "was not struck off by who did",
       {{&usage::sql::kDeleteChunks, "delete from tenure.usage_chunks c\n using",
         "update tenure.usage_chunks c set format = c.format from"}},
       {52, 88}},
      {"a factor counts in the window under way",
       "counts from",
       {{&usage::sql::kPutFactors, "select kind, from_ms,",
         "select kind, greatest(from_ms - 600, 0),"}}},
      {"sessions are removed whether or not their usage is acknowledged",
       "was removed",
       {{&sessions::sql::kReadBounds, "select sealed_ms, settled_ms",
         "select sealed_ms, sealed_ms"}}},
  };
}

/// Receives what a process sends, on that process's thread.
using Receiver = std::function<PostReply(const Post&)>;

usage::Options UsageOptions() {
  usage::Options options;
  options.interval_ms = kIntervalMs;
  // Large, so that a millisecond is some micro-units, and odd, so that nothing divides evenly.
  options.factors = {9'876'543'211, 123'456'789'013, 1'000'000'007};
  options.chunk_size = 2;
  options.chunks_per_step = 1;
  options.retention_ms = 2 * kRetentionMs;
  options.send = true;
  return options;
}

struct UsageServer final : Server {
  UsageServer(Process& process, Receiver receiver)
      : sessions(process.store(), {kDurationMs, kRetentionMs}, process.metrics()),
        messages(process.store(), process.wake(), process.name(), process.clock(),
                 process.metrics()),
        usage(process.store(), sessions, messages, process.wake(), UsageOptions(),
              process.metrics()),
        delivery({.load = [this](usage::ChunkName name,
                                 auto done) { usage.Load(std::move(name), std::move(done)); },
                  .change = [this](usage::ChunkChange change,
                                   auto done) { usage.Change(std::move(change), std::move(done)); },
                  .settle =
                      [this](messages::SettleRequest request, auto done) {
                        messages.Settle(std::move(request), nullptr, std::move(done));
                      },
                  .post = [receiver = std::move(receiver)](const Post& post,
                                                           auto done) { done(receiver(post)); },
                  .installation = "test"}) {}

  sessions::Sessions sessions;
  messages::Messages messages;
  usage::Usage usage;
  usage::ChunkDelivery delivery;
};

class UsageRun final : public Frame {
 public:
  explicit UsageRun(const UsageBug& planted = {})
      : Frame(
            {.queries = QueriesOf({usage::sql::All(), sessions::sql::All(), messages::sql::All()}),
             .tables = {"sessions", "session_keys", "usage_windows", "usage_chunks",
                        "usage_factors", "messages", "dead_letters", "message_claims"},
             .batches = 9,
             .odds = {.crash_percent = 1, .pause_percent = 6}}),
        is_right_(planted.replacements.empty()),
        focus_(planted.focus) {
    // Real time must decide nothing here: who waits for the seal does so for as long as it takes.
    Plant(sessions::sql::kLockSeal, "set_config('lock_timeout', '200', true)", "''");
    for (const auto& [query, part, by] : planted.replacements) Plant(*query, part, by);
  }
  std::int64_t records() const { return records_; }
  std::int64_t halved() const { return halved_; }
  std::int64_t sent_again() const { return sent_again_; }

 private:
  std::unique_ptr<Server> Boot(Process& process) override {
    return std::make_unique<UsageServer>(process,
                                         [this](const Post& post) { return Receive(post); });
  }
  void Begin() override {
    tables().Ask("update tenure.session_bounds set sealed_ms = 0, settled_ms = 0, removed_ms = 0");
    known_.clear();
    keys_seen_.clear();
    keys_.clear();
    for (int i = 0; i < 4; ++i) {
      const base::Uuid user = NewId();
      keys_.push_back({user, NewId()});
    }
    book_ = std::make_unique<UsageBook>(tables(), std::set<std::int64_t>{kIntervalMs},
                                        [this](const std::string& what) { Violation(what); });
    Prepare();
  }
  void Judge() override {
    // A planted bug is to be found when it is committed.
    if (is_right_) {
      if (!has_violations()) Drain();
      if (!has_violations()) book_->CheckEnd();
    }
    records_ += book_->applied();
  }
  void OnCommit(Process& process) override { book_->Committed(process.queries); }
  /// "Ask again" where it never waits.
  bool IsExpected(const base::Fault& fault) const override {
    return fault.kind() == base::FaultKind::kContended;
  }

  // What a process does.

  void Submit(Process& process) override {
    auto& server = ServerOf<UsageServer>(process);
    const auto roll = focus_.from + Random(focus_.to - focus_.from);
    if (roll < 25) return SubmitPuts(server);
    if (roll < 35) return SubmitEnd(server);
    if (roll < 38) return server.sessions.ExpireSome({}, Expected());
    if (roll < 52) return SubmitSeal(server, Chance(70) ? 100 : 1);
    if (roll < 66) return SubmitEmit(server, 1 + static_cast<int>(Random(4)));
    if (roll < 88) return SubmitDelivery(server);
    if (roll < 93) return SubmitFactor(server);
    SubmitUpkeep(server);
  }

  void SubmitPuts(UsageServer& server) {
    for (auto count = 1 + Random(3); count > 0; --count) {
      const sessions::PutRequest request{tenant_, keys_[Random(keys_.size())],
                                         static_cast<Kind>(1 + Random(3))};
      server.sessions.Put(request, nullptr, [this](db::Result<sessions::PutReply> result) {
        if (Expect(result)) known_.push_back(result.value().session);
      });
    }
  }
  void SubmitEnd(UsageServer& server) {
    if (known_.empty()) return SubmitPuts(server);
    const sessions::Session& session = AnyLate(known_);
    server.sessions.End({session.id, session.key}, nullptr, Expected());
  }

  /// One after the other, as the task does.
  void SubmitSeal(UsageServer& server, int most) {
    server.usage.SealNext([this, &server, most](const db::Result<usage::SealReply>& result) {
      if (Expect(result) && result.value().sealed && most > 1) SubmitSeal(server, most - 1);
    });
  }
  void SubmitEmit(UsageServer& server, int most) {
    server.usage.FindRanges([this, &server, most](db::Result<usage::RangesReply> result) {
      if (!Expect(result) || !result.value().window) return;
      server.usage.Emit(std::move(result.value()),
                        [this, &server, most](const db::Result<usage::EmitReply>& emitted) {
                          if (Expect(emitted) && most > 1) SubmitEmit(server, most - 1);
                        });
    });
  }

  void SubmitDelivery(UsageServer& server) {
    server.messages.ReapSome({true}, [this, &server](const db::Result<messages::ReapReply>& r) {
      if (Expect(r)) SubmitPromotion(server);
    });
  }
  void SubmitPromotion(UsageServer& server) {
    server.messages.PromoteSome([this, &server](const db::Result<messages::PromoteReply>& r) {
      if (Expect(r)) SubmitClaim(server);
    });
  }
  void SubmitClaim(UsageServer& server) {
    messages::ClaimRequest request;
    request.tenant = tasks::kOwnTenant;
    request.topics.emplace_back(usage::kTopic);
    request.max = is_healthy_ ? 100 : 1 + static_cast<std::int64_t>(Random(3));
    request.lease_ms = kLeaseMs;
    request.owner = "sender";
    server.messages.Claim(
        std::move(request), nullptr, [this, &server](const db::Result<messages::ClaimReply>& r) {
          if (!Expect(r)) return;
          for (const auto& message : r.value().messages)
            server.delivery.Deliver(message,
                                    [this](const Delivered& delivered) { OnDelivered(delivered); });
        });
  }
  void OnDelivered(const Delivered& delivered) {
    ++delivered_;
    if (delivered.outcome == usage::ChunkOutcome::kHalved) ++halved_;
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

  void SubmitFactor(UsageServer& server) {
    const int kind = 1 + static_cast<int>(Random(3));
    const auto millionths =
        static_cast<std::int64_t>(Random(3) == 0 ? Random(1'000'000'000) : Random(500'000'000'000));
    server.usage.SetFactor(kind, millionths, nullptr, Expected());
  }

  void SubmitUpkeep(UsageServer& server) {
    server.usage.TidySome([this, &server](const db::Result<db::Swept>& result) {
      if (Expect(result)) server.sessions.RemoveSome({}, Expected());
    });
  }

  void BetweenSteps() override {
    clock().Advance(static_cast<std::int64_t>(Random(8)));
    // What matters happens around the end of a window.
    constexpr std::int64_t kShortlyBeforeMs = 20;
    const std::int64_t left_ms = kIntervalMs - clock().WallMs() % kIntervalMs;
    if (Chance(3) && left_ms > kShortlyBeforeMs) clock().Advance(left_ms - kShortlyBeforeMs);
    if (Chance(2)) clock().StepWall(-static_cast<std::int64_t>(Random(150)));
    if (Chance(1)) clock().StepWall(static_cast<std::int64_t>(Random(250)));
  }

  // Before and after: the first process alone, without a scheduler.

  void Alone(const std::function<void(UsageServer&)>& submit) {
    Frame::Alone([&](Process& process) { submit(ServerOf<UsageServer>(process)); });
  }

  /// Something to close, to emit and to send from the first step on.
  void Prepare() {
    Alone([&](UsageServer& server) { SetUpTopic(server); });
    for (int i = 0; i < 3; ++i) Alone([&](UsageServer& server) { SubmitPuts(server); });
    clock().Advance(3 * kIntervalMs);
    Alone([&](UsageServer& server) { SubmitSeal(server, 2); });
    Alone([&](UsageServer& server) { SubmitEmit(server, 2); });
  }

  /// As the sender does it.
  void SetUpTopic(UsageServer& server) {
    messages::TopicChange change;
    change.tenant = tasks::kOwnTenant;
    change.name = usage::kTopic;
    change.max_attempts = 0;
    change.max_crashes = 0;
    server.messages.ChangeTopic(std::move(change), nullptr, Expected());
  }

  /// Whatever crashed: one healthy process closes, emits and delivers what is left.
  void Drain() {
    is_healthy_ = true;
    clock().Advance(2 * kIntervalMs);
    Alone([&](UsageServer& server) { SubmitSeal(server, 1'000); });
    Alone([&](UsageServer& server) { SubmitEmit(server, 1'000); });
    for (int round = 0; round < 40 && !has_violations() && !book_->IsDelivered(); ++round) {
      clock().Advance(60'000);
      Alone([&](UsageServer& server) { Redrive(server); });
      do {
        delivered_ = 0;
        Alone([&](UsageServer& server) { SubmitDelivery(server); });
      } while (delivered_ > 0 && !has_violations());
    }
    is_healthy_ = false;
  }
  void Redrive(UsageServer& server) {
    messages::DeadChangeRequest request;
    request.filter.tenant = tasks::kOwnTenant;
    server.messages.ChangeDead(request, nullptr, Expected());
  }

  const bool is_right_;
  const Focus focus_;
  const base::Uuid tenant_ = base::Uuid::V7(1);
  std::int64_t records_ = 0;
  std::int64_t halved_ = 0;
  std::int64_t sent_again_ = 0;

  // Of one run.
  std::unique_ptr<UsageBook> book_;
  std::vector<sessions::Key> keys_;
  std::vector<sessions::Session> known_;
  std::set<std::string> keys_seen_;
  int delivered_ = 0;
  bool is_healthy_ = false;
};

TEST(SteppedUsage, U1_U2_HoldInEveryInterleavingAndNothingDeadlocks) {
  UsageRun run;
  const std::int64_t seeds = support::ExpectEverySeedHolds(run, kSeeds);
  std::cout << run.records() << " records, " << run.halved() << " chunks halved, "
            << run.sent_again() << " requests sent again\n";
  EXPECT_GE(run.records(), seeds * 10);
  EXPECT_GE(run.halved(), seeds / 10);
  EXPECT_GE(run.sent_again(), seeds / 10);
}

TEST(SteppedUsage, EveryPlantedBugIsFound) {
  for (const UsageBug& planted : UsageBugs()) {
    SCOPED_TRACE(planted.what);
    support::ExpectFound(UsageRun(planted), kSeedsForABug, planted.found_by);
  }
}

}  // namespace
}  // namespace tenure::stepped
