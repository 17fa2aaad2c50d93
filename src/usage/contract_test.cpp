// The contract of usage (U1, U2), on every store.

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/decimal.hpp"
#include "sessions/usage_seal.hpp"
#include "usage/test_process.hpp"

namespace tenure::usage {
namespace {

using sessions::Kind;
using sessions::Session;
using store::EngineKind;
using testing::HasSubstr;

constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kDayMs = TestProcess::kDay;

class UsageContract : public testing::TestWithParam<EngineKind> {
 protected:
  UsageContract() : store_(GetParam(), AllQueries()) {
    Restart({.chunk_size = 3, .retention_ms = 800 * kDayMs, .send = true});
  }
  void Restart(const Options& options) {
    process_.reset();
    process_ = std::make_unique<TestProcess>(store_, options);
  }

  base::ManualClock& clock() { return store_.clock(); }
  sessions::Key NewKey() {
    return {base::Uuid::V7(clock().WallMs()), base::Uuid::V7(clock().WallMs())};
  }
  Session Put(Kind kind) { return process_->Put(NewKey(), kind); }

  /// All records of a window, by session.
  std::map<base::Uuid, std::int64_t> RecordsOf(std::int64_t number) {
    std::map<base::Uuid, std::int64_t> records;
    RecordsRequest request;
    request.number = number;
    request.limit = 2;
    for (;;) {
      const RecordsReply page = process_->Records(request);
      const Material& material = page.material.value();
      for (const Session& session : material.sessions)
        records[session.id] = material.factors.MicrosIn(static_cast<int>(session.kind),
                                                        {session.start_ms, session.end_ms},
                                                        material.window.interval());
      if (!page.has_more) return records;
      request.after = material.sessions.back().id;
    }
  }
  /// What a session used by all windows together.
  std::int64_t SumOf(const base::Uuid& session) {
    std::int64_t sum = 0;
    for (const WindowView& view : process_->Windows({.limit = 1'000}).rows) {
      const auto records = RecordsOf(view.window.number);
      if (const auto found = records.find(session); found != records.end()) sum += found->second;
    }
    return sum;
  }
  void RemoveDuring(std::string_view look, const std::function<void(std::int64_t)>& then);

  /// A receiver that applies what it gets, and remembers under which keys.
  PostReply Take(const Post& post) {
    bodies_[post.idempotency_key].insert(post.body);
    return {.status = 200};
  }
  void DeliverAll() {
    for (const auto& message : process_->Claim())
      process_->Deliver(message, [this](const Post& post) { return Take(post); });
  }

  store::TestStore store_;
  std::unique_ptr<TestProcess> process_;
  std::map<std::string, std::set<std::string>> bodies_;
};

TEST_P(UsageContract, BeforeTheFirstSessionThereIsNoWindow) {
  clock().Advance(10 * kMinuteMs);
  EXPECT_FALSE(process_->Seal());
}

TEST_P(UsageContract, U1WindowsAreNumberedFromOneAlignedAndWithoutAGap) {
  clock().Advance(12'345);
  const Session session = Put(Kind::kBasic);
  EXPECT_FALSE(process_->Seal()) << "its end has not come";
  clock().Advance(3 * kMinuteMs);
  const auto windows = process_->SealAll();
  ASSERT_EQ(windows.size(), 3u);
  std::int64_t number = 0;
  std::int64_t start_ms = session.start_ms / kMinuteMs * kMinuteMs;
  for (const Window& window : windows) {
    EXPECT_EQ(window.number, ++number);
    EXPECT_EQ(window.start_ms, start_ms);
    EXPECT_EQ(window.end_ms, start_ms + kMinuteMs);
    start_ms = window.end_ms;
  }
  EXPECT_FALSE(process_->Seal());
}

TEST_P(UsageContract, U1ASessionIsChargedFromItsOwnStartToItsOwnEnd) {
  clock().Advance(15'000);
  const Session session = Put(Kind::kPremium);
  clock().Advance(kMinuteMs);
  process_->End(session);
  clock().Advance(2 * kMinuteMs);
  process_->SealAll();
  EXPECT_EQ(SumOf(session.id), kMinuteMs * 3'000'000 / kUnitMs);
  EXPECT_EQ(RecordsOf(1).at(session.id), 45'000LL * 3'000'000 / kUnitMs);
  EXPECT_EQ(RecordsOf(3).count(session.id), 0u) << "it had ended before";
}

TEST_P(UsageContract, U1AnUpgradedSessionHasThePartsOfBothKinds) {
  const sessions::Key key = NewKey();
  const Session first = process_->Put(key, Kind::kBasic);
  clock().Advance(30'500);
  const Session second = process_->Put(key, Kind::kPremium);
  clock().Advance(kMinuteMs);
  process_->SealAll();
  EXPECT_EQ(RecordsOf(1).at(first.id), 30'500LL * 1'000'000 / kUnitMs);
  EXPECT_EQ(RecordsOf(1).at(second.id), 29'500LL * 3'000'000 / kUnitMs);
}

TEST_P(UsageContract, U1AFactorCountsFromTheNextWindowOnAndSealedOnesStayAsTheyWere) {
  const Session session = Put(Kind::kBasic);
  clock().Advance(kMinuteMs + 1);
  process_->SealAll();
  const auto before = RecordsOf(1);
  const Factor factor = process_->SetFactor(1, 5'000'000);
  EXPECT_EQ(factor.from_ms, NextBoundary(clock().WallMs(), kMinuteMs));
  EXPECT_EQ(process_->SetFactor(1, 5'000'000), factor) << "the same again changes nothing";
  clock().Advance(2 * kMinuteMs);
  process_->SealAll();
  EXPECT_EQ(RecordsOf(1), before);
  EXPECT_EQ(SumOf(session.id), (2 * kMinuteMs * 1'000'000 + kMinuteMs * 5'000'000) / kUnitMs);
  EXPECT_EQ(process_->AllFactors().size(), 4u);
}

TEST_P(UsageContract, U1ASessionOfTheFirstKindThatLivedThirtyDaysHasOneUnit) {
  Restart({.interval_ms = 6 * 3'600'000});  // with minutes it would take all day
  clock().Advance(4'321);
  const Session session = Put(Kind::kBasic);
  clock().Advance(31 * kDayMs);
  process_->SealAll();
  EXPECT_EQ(process_->Total().micros, 1'000'000);
  EXPECT_EQ(SumOf(session.id), 1'000'000);
}

TEST_P(UsageContract, U1NothingStartsOrEndsBeforeTheEndOfAClosedWindow) {
  const Session session = Put(Kind::kBasic);
  clock().Advance(kMinuteMs);
  const Window window = process_->Seal().value();
  if (!store_.is_sqlite()) {
    clock().StepWall(-10 * kMinuteMs);  // the database's clock is set back
    process_->End(session);
    EXPECT_EQ(process_->Find(session.id).end_ms, window.end_ms);
    EXPECT_EQ(Put(Kind::kBasic).start_ms, window.end_ms);
  } else {
    process_->End(session);
    EXPECT_GE(process_->Find(session.id).end_ms, window.end_ms);
  }
}

TEST_P(UsageContract, AWindowIsPutIntoChunksOnceWhoeverTries) {
  for (int i = 0; i < 7; ++i) Put(Kind::kBasic);
  clock().Advance(kMinuteMs);
  process_->SealAll();
  const RangesReply ranges = process_->Ranges();
  ASSERT_EQ(ranges.chunks.size(), 3u);
  EXPECT_TRUE(ranges.is_last);
  EXPECT_EQ(ranges.chunks.back().records, 1);
  EXPECT_EQ(ranges.chunks.back().name.chunk, "3");
  EXPECT_TRUE(process_->Emit(ranges));
  EXPECT_FALSE(process_->Emit(ranges)) << "somebody else was faster";
  EXPECT_FALSE(process_->Ranges().window);
  EXPECT_EQ(process_->Unsent().records, 7);
  EXPECT_EQ(process_->Claim().size(), 3u);
}

TEST_P(UsageContract, ChunksEndAtTheStepsBordersWithoutLosingASession) {
  const int sessions = static_cast<int>(3 * kChunksPerStep);
  for (int i = 0; i < sessions; ++i) Put(Kind::kBasic);
  clock().Advance(kMinuteMs);
  process_->SealAll();
  const RangesReply first = process_->Ranges();
  EXPECT_FALSE(first.is_last);
  process_->Emit(first);
  const RangesReply second = process_->Ranges();
  EXPECT_TRUE(second.chunks.empty());
  EXPECT_TRUE(second.is_last);
  process_->Emit(second);
  EXPECT_EQ(process_->Windows().rows.front().window.records, sessions);
  EXPECT_EQ(process_->Windows().rows.front().window.chunks, kChunksPerStep);
}

TEST_P(UsageContract, AnEmptyWindowIsNotSent) {
  process_->End(Put(Kind::kBasic));
  clock().Advance(3 * kMinuteMs);
  process_->SealAll();
  process_->EmitAll();
  EXPECT_TRUE(process_->Claim().empty()) << "the one session had no length";
  for (const WindowView& view : process_->Windows().rows)
    EXPECT_EQ(view.window.state, WindowState::kEmitted);
}

TEST_P(UsageContract, U2AChunkIsSentWithTheSameKeyAndTheSameBytesEachTime) {
  const Session session = Put(Kind::kStandard);
  clock().Advance(kMinuteMs);
  process_->SealAll();
  process_->EmitAll();
  const auto claimed = process_->Claim();
  ASSERT_EQ(claimed.size(), 1u);
  const auto lost = process_->Deliver(claimed[0], [this](const Post& post) {
    Take(post);
    return PostReply{.error = "closed"};
  });
  EXPECT_EQ(lost.outcome, ChunkOutcome::kFailed);
  EXPECT_EQ(process_->Unsent().records, 1);

  process_->End(session);  // the world goes on
  clock().Advance(kMinuteMs);
  process_->SetFactor(2, 7'000'000);
  process_->SealAll();
  process_->PromoteAll();
  const auto again = process_->Claim();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(process_->Deliver(again[0], [this](const Post& post) { return Take(post); }).outcome,
            ChunkOutcome::kAcknowledged);
  ASSERT_EQ(bodies_.size(), 1u);
  EXPECT_EQ(bodies_.begin()->first,
            fmt::format("test.{}-1-1", process_->Windows().rows[0].window.incarnation));
  ASSERT_EQ(bodies_.begin()->second.size(), 1u) << "the same bytes";
  EXPECT_THAT(*bodies_.begin()->second.begin(),
              HasSubstr(fmt::format(R"("recordId":"1-{}")", session.id.ToString())));
  EXPECT_THAT(*bodies_.begin()->second.begin(), HasSubstr(R"("usage":0.000046)"));
  EXPECT_EQ(process_->Unsent().records, 0);
}

TEST_P(UsageContract, AChunkThatIsRefusedIsHalvedDownToTheRecordThatIsWrong) {
  std::vector<Session> all;
  for (int i = 0; i < 3; ++i) all.push_back(Put(Kind::kBasic));
  std::ranges::sort(all, {}, &Session::id);
  clock().Advance(kMinuteMs);
  process_->SealAll();
  process_->EmitAll();
  const std::string bad = all[1].id.ToString();
  std::set<std::string> keys;
  const auto receiver = [&](const Post& post) {
    keys.insert(post.idempotency_key);
    return post.body.find(bad) == std::string::npos
               ? PostReply{.status = 200}
               : PostReply{.status = 422, .body = "no such user"};
  };
  for (int round = 0; round < 4; ++round)
    for (const auto& message : process_->Claim()) process_->Deliver(message, receiver);
  EXPECT_EQ(keys.size(), 5u) << "1, its halves 1.0 and 1.1, and 1.1.0 and 1.1.1";
  const auto refused = process_->RefusedRecords().rows;
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0].session, all[1].id);
  EXPECT_EQ(refused[0].answer, "422: no such user");
  EXPECT_EQ(process_->Unsent().records, 1);
  EXPECT_EQ(process_->Unsent().refused_records, 1);

  messages::DeadChangeRequest redrive;  // the receiver was mended
  redrive.filter.tenant = tasks::kOwnTenant;
  process_->Await<messages::DeadChangeReply>(
      [&](auto done) { process_->messages().ChangeDead(redrive, nullptr, std::move(done)); });
  DeliverAll();
  EXPECT_EQ(process_->Unsent().records, 0);
  EXPECT_TRUE(process_->RefusedRecords().rows.empty());
}

TEST_P(UsageContract, AChunkThatWasAcknowledgedIsNotSentAgainWhenItsMessageComesBack) {
  Put(Kind::kBasic);
  clock().Advance(kMinuteMs);
  process_->SealAll();
  process_->EmitAll();
  const auto claimed = process_->Claim();
  process_->Await<ChunkChangeReply>([&](auto done) {  // it crashed after this
    process_->usage().Change({.name = {1, "1"}}, std::move(done));
  });
  const auto delivered = process_->Deliver(claimed[0], [](const Post&) -> PostReply {
    ADD_FAILURE() << "sent again";
    return {};
  });
  EXPECT_EQ(delivered.outcome, ChunkOutcome::kSkipped);
}

TEST_P(UsageContract, WithoutAnEndpointWindowsCloseAndCanBeSentLater) {
  Restart({.chunk_size = 3, .send = false});
  Put(Kind::kBasic);
  clock().Advance(2 * kMinuteMs);
  EXPECT_EQ(process_->SealAll().size(), 2u);
  EXPECT_FALSE(process_->Ranges().window);
  EXPECT_EQ(process_->Windows().rows.front().window.state, WindowState::kClosed);
  EXPECT_EQ(process_->Send(2), 1);
  EXPECT_EQ(process_->Send(2), 0) << "once";
  process_->EmitAll();
  EXPECT_EQ(process_->Unsent().records, 1);
  EXPECT_EQ(process_->Send(1), 1);
}

TEST_P(UsageContract, SessionsAreKeptUntilTheirUsageIsAcknowledged) {
  const Session session = Put(Kind::kBasic);
  clock().Advance(kMinuteMs);
  process_->End(session);
  clock().Advance(kMinuteMs);
  process_->SealAll();
  process_->EmitAll();
  clock().Advance(401 * kDayMs);
  process_->Tidy();
  EXPECT_EQ(process_->Remove(), 0) << "the receiver has not taken it";
  for (const auto& message : process_->Claim())
    process_->Deliver(message, [this](const Post& post) { return Take(post); });
  process_->Tidy();
  EXPECT_EQ(process_->Remove(), 1);
  RecordsRequest request;
  request.number = 1;
  EXPECT_TRUE(process_->Records(request).is_removed) << "it is not told as if it were whole";
  EXPECT_FALSE(process_->Total().is_complete);
}

/// Lets something happen in the middle of a look.
class Interruption final : public db::StepHook {
 public:
  Interruption(std::string_view at, std::function<void()> what) : at_(at), what_(std::move(what)) {}
  void Before(std::string_view step) override {
    if (step == at_ && what_) std::exchange(what_, nullptr)();
  }
  void After(std::string_view) override {}

 private:
  const std::string_view at_;
  std::function<void()> what_;
};

/// One window, told, of a session whose row retention is about to remove when `look` reads it.
void UsageContract::RemoveDuring(std::string_view look,
                                 const std::function<void(std::int64_t)>& then) {
  const Session session = Put(Kind::kBasic);
  clock().Advance(1);
  process_->End(session);
  clock().Advance(kMinuteMs);
  const std::int64_t number = process_->SealAll().front().number;
  process_->EmitAll();
  DeliverAll();
  clock().Advance(401 * kDayMs);
  process_->Tidy();

  TestProcess other(store_, {});
  Interruption removal(look, [&other] { EXPECT_EQ(other.Remove(), 1); });
  for (db::Lane* lane : process_->store().AllLanes()) lane->connection().SetHook(&removal);
  then(number);
  for (db::Lane* lane : process_->store().AllLanes()) lane->connection().SetHook(nullptr);
}

TEST_P(UsageContract, RecordsThatAreRemovedWhileSomebodyLooksAreNotToldAsTheWhole) {
  if (store_.is_sqlite()) GTEST_SKIP() << "a look is one snapshot";
  RemoveDuring("usage.list_active", [&](std::int64_t number) {
    RecordsRequest request;
    request.number = number;
    EXPECT_TRUE(process_->Records(request).is_removed);
  });
}

TEST_P(UsageContract, TotalsOfWhatIsRemovedWhileSomebodyLooksAreNotToldAsTheWhole) {
  if (store_.is_sqlite()) GTEST_SKIP() << "a look is one snapshot";
  RemoveDuring("sessions.list_all", [&](std::int64_t number) {
    TotalsRequest request;
    request.span = {number, number};
    EXPECT_FALSE(process_->Total(request).is_complete);
  });
}

TEST_P(UsageContract, OldWindowsAreForgottenButNeverTheLast) {
  Restart({.retention_ms = 400 * kDayMs, .send = true});
  Put(Kind::kBasic);
  clock().Advance(3 * kMinuteMs);
  process_->SealAll();
  process_->EmitAll();
  DeliverAll();
  clock().Advance(401 * kDayMs);
  EXPECT_EQ(process_->Tidy().rows, 2);
  const auto windows = process_->Windows().rows;
  ASSERT_EQ(windows.size(), 1u);
  EXPECT_EQ(windows[0].window.number, 3);
  EXPECT_EQ(process_->Seal()->number, 4);
}

TEST_P(UsageContract, TotalsCanBeAskedForAUserATenantACapacityAndASpan) {
  const base::Uuid tenant = base::Uuid::V7(1);
  const sessions::Key key = NewKey();
  process_->Put(key, Kind::kBasic, tenant);
  Put(Kind::kPremium);
  clock().Advance(2 * kMinuteMs);
  process_->SealAll();
  EXPECT_EQ(process_->Total().sessions, 2);
  EXPECT_EQ(process_->Total({.user = key.user}).micros, 2 * kMinuteMs * 1'000'000 / kUnitMs);
  EXPECT_EQ(process_->Total({.tenant = tenant}).sessions, 1);
  EXPECT_EQ(process_->Total({.capacity = key.capacity}).sessions, 1);
  EXPECT_EQ(process_->Total({.span = {2, 2}, .user = key.user}).micros,
            2 * kMinuteMs * 1'000'000 / kUnitMs - kMinuteMs * 1'000'000 / kUnitMs);
  EXPECT_FALSE(process_->Total({.span = {7, {}}}).span.from);

  RecordsRequest request;
  request.number = 1;
  request.user = key.user;
  EXPECT_EQ(process_->Records(request).material->sessions.size(), 1u);
  request.user.reset();
  request.tenant = tenant;
  EXPECT_EQ(process_->Records(request).material->sessions.size(), 1u);
  request.number = 99;
  EXPECT_FALSE(process_->Records(request).material);
}

INSTANTIATE_TEST_SUITE_P(Stores, UsageContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres,
                                         EngineKind::kPooledPostgres),
                         store::EngineName);

const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

}  // namespace
}  // namespace tenure::usage
