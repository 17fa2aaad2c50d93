// The contract of the inbox (I1) on every store.

#include <algorithm>

#include "base/clock.hpp"
#include "db/maintenance.hpp"
#include "inbox/test_process.hpp"
#include "store/tables.hpp"

namespace tenure::inbox {
namespace {

using store::EngineKind;
using Begun = BeginOutcome::Kind;
using Ended = FinishOutcome::Kind;

const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

class InboxContract : public testing::TestWithParam<EngineKind> {
 protected:
  base::ManualClock& clock() { return store_.clock(); }
  /// Told to process; returns the fence.
  std::int64_t Claim(const std::string& id) { return Claim(id, {}); }
  std::int64_t Claim(const std::string& id, const TestProcess::Ask& ask) {
    const auto told = a_.Begin(id, ask);
    EXPECT_EQ(told.kind, Begun::kProcess);
    return told.fence;
  }

  store::TestStore store_{GetParam(), sql::All()};
  TestProcess a_{store_};
};

INSTANTIATE_TEST_SUITE_P(Stores, InboxContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kSharedSqlite,
                                         EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(InboxContract, TheFirstDeliveryIsToldToProcessWithADeadline) {
  const auto told = a_.Begin("1", {.hash = "h", .lease_ms = 700});
  EXPECT_EQ(told.kind, Begun::kProcess);
  EXPECT_EQ(told.fence, 1);
  EXPECT_EQ(told.until_ms, clock().WallMs() + 700);
  const auto entry = a_.Find("1").value();
  EXPECT_EQ(entry.state, State::kClaimed);
  EXPECT_EQ(entry.hash, "h");
  EXPECT_EQ(entry.received_ms, clock().WallMs());
  EXPECT_FALSE(a_.Find("2"));
}

TEST_P(InboxContract, I1_OthersAreToldInProgressUntilTheDeadlineAndThenOneTakesOver) {
  const auto first = a_.Begin("1", {.lease_ms = 700});
  clock().Advance(699);
  const auto second = a_.Begin("1");
  EXPECT_EQ(second.kind, Begun::kInProgress);
  EXPECT_EQ(second.until_ms, first.until_ms);
  EXPECT_FALSE(second.retrying);
  clock().Advance(1);
  const auto third = a_.Begin("1");
  EXPECT_EQ(third.kind, Begun::kProcess) << "the first one crashed";
  EXPECT_EQ(third.fence, first.fence + 1);
  EXPECT_EQ(third.crashes, 1);
  EXPECT_EQ(a_.Begin("1").kind, Begun::kInProgress);
}

TEST_P(InboxContract, I1_OfFiftyDeliveriesInOneBatchOneIsToldToProcess) {
  std::vector<BeginOutcome> told;
  for (int i = 0; i < 50; ++i)
    a_.inbox().Begin(TestProcess::Command("1", {.term = Term(i + 1)}), nullptr,
                     [&](db::Result<BeginOutcome> result) { told.push_back(result.value()); });
  store::Drive(a_.store());
  ASSERT_EQ(told.size(), 50u);
  EXPECT_EQ(std::count_if(told.begin(), told.end(),
                          [](const auto& one) { return one.kind == Begun::kProcess; }),
            1);
}

TEST_P(InboxContract, TheSameTermIsToldTheSameAgain) {
  const auto first = a_.Begin("1", {.term = Term(1)});
  clock().Advance(500);
  const auto again = a_.Begin("1", {.term = Term(1)});
  EXPECT_EQ(again.kind, Begun::kProcess);
  EXPECT_EQ(again.fence, first.fence);
  EXPECT_EQ(again.until_ms, first.until_ms);
  EXPECT_EQ(a_.Begin("1", {.term = Term(2)}).kind, Begun::kInProgress);
}

TEST_P(InboxContract, WhatIsDoneIsToldWithItsResultForEver) {
  const std::string result = R"({"order":[1,2.5,"ü",null]})";
  const auto fence = Claim("1");
  EXPECT_EQ(a_.Complete("1", fence, result).kind, Ended::kAccepted);
  for (int i = 0; i < 3; ++i) {
    clock().Advance(100'000);
    const auto told = a_.Begin("1");
    EXPECT_EQ(told.kind, Begun::kDone);
    EXPECT_EQ(told.result, result);
  }
  EXPECT_EQ(a_.Complete("1", fence, "\"another\"").kind, Ended::kAccepted) << "a lost answer";
  EXPECT_EQ(a_.Begin("1").result, result) << "the first one counts";
  EXPECT_EQ(a_.Fail("1", fence).kind, Ended::kStale);
}

TEST_P(InboxContract, ACompletionWithoutAResultIsOne) {
  a_.Complete("1", Claim("1"));
  const auto told = a_.Begin("1");
  EXPECT_EQ(told.kind, Begun::kDone);
  EXPECT_EQ(told.result, "");
}

TEST_P(InboxContract, AnotherMessageUnderTheSameIdIsAConflict) {
  Claim("1", {.hash = "a"});
  const auto told = a_.Begin("1", {.hash = "b"});
  EXPECT_EQ(told.kind, Begun::kConflict);
  EXPECT_EQ(told.hash, "a");
  EXPECT_EQ(a_.Begin("1").kind, Begun::kInProgress) << "no hash matches any";
  clock().Advance(1'000);
  EXPECT_EQ(a_.Begin("1", {.hash = "b"}).kind, Begun::kConflict) << "also when it is free";
}

TEST_P(InboxContract, TheFirstHashThatComesIsStored) {
  a_.Complete("1", Claim("1"));
  EXPECT_EQ(a_.Begin("1", {.hash = "a"}).kind, Begun::kDone);
  EXPECT_EQ(a_.Begin("1", {.hash = "b"}).kind, Begun::kConflict);
  EXPECT_EQ(a_.Begin("1", {.hash = "a"}).kind, Begun::kDone);
}

TEST_P(InboxContract, SourcesAndTenantsHaveIdsOfTheirOwn) {
  Claim("1");
  EXPECT_EQ(a_.Begin("1", {.source = "stripe"}).kind, Begun::kProcess);
  EXPECT_EQ(a_.Begin("1", {.tenant = "other"}).kind, Begun::kProcess);
}

TEST_P(InboxContract, AFailureWaitsItsBackOffAndThenOneIsToldToProcess) {
  const auto fence = Claim("1");
  const auto failed = a_.Fail("1", fence, "the receiver is down");
  EXPECT_EQ(failed.kind, Ended::kAccepted);
  EXPECT_EQ(failed.state, State::kRetrying);
  const std::int64_t wait_ms = failed.until_ms - clock().WallMs();
  EXPECT_EQ(wait_ms, BackOffMs(TestProcess::Key("1"), 1));
  EXPECT_EQ(a_.Fail("1", fence).until_ms, failed.until_ms) << "a lost answer counts no failure";
  EXPECT_EQ(a_.Complete("1", fence).kind, Ended::kStale) << "its claim is over";
  clock().Advance(wait_ms - 1);
  const auto waits = a_.Begin("1");
  EXPECT_EQ(waits.kind, Begun::kInProgress);
  EXPECT_TRUE(waits.retrying);
  EXPECT_EQ(waits.until_ms, failed.until_ms);
  clock().Advance(1);
  const auto told = a_.Begin("1");
  EXPECT_EQ(told.kind, Begun::kProcess);
  EXPECT_EQ(told.fence, fence + 1);
  EXPECT_EQ(told.attempts, 1);
  EXPECT_EQ(told.crashes, 0);
  EXPECT_EQ(a_.Find("1")->error, "the receiver is down");
}

TEST_P(InboxContract, TheThirdFailureIsTheLast) {
  for (int i = 1; i <= 3; ++i) {
    const auto failed = a_.Fail("1", Claim("1"), "no " + std::to_string(i));
    EXPECT_EQ(failed.state, i < 3 ? State::kRetrying : State::kDead);
    clock().Advance(60'000);
  }
  const auto told = a_.Begin("1");
  EXPECT_EQ(told.kind, Begun::kDead);
  EXPECT_EQ(told.error, "no 3");
  EXPECT_NE(store_.metrics().Text().find("\ntenure_inbox_dead_total 1\n"), std::string::npos);
}

TEST_P(InboxContract, AMessageThatKillsItsWorkerEachTimeComesToAnEnd) {
  for (int i = 0; i < 9; ++i) {
    Claim("1");
    clock().Advance(1'000);
  }
  EXPECT_EQ(a_.Begin("1").kind, Begun::kDead);
  EXPECT_EQ(a_.Begin("1").error, "9 claims ended without a word");
  EXPECT_NE(store_.metrics().Text().find("\ntenure_inbox_dead_total 1\n"), std::string::npos);
}

TEST_P(InboxContract, AStaleEndChangesNothingAndSaysWhatIs) {
  const auto zombie = Claim("1");
  clock().Advance(1'000);
  const auto fence = Claim("1");
  for (const auto& told : {a_.Complete("1", zombie, "1"), a_.Fail("1", zombie)}) {
    EXPECT_EQ(told.kind, Ended::kStale);
    EXPECT_EQ(told.state, State::kClaimed);
    EXPECT_EQ(told.fence, fence);
  }
  EXPECT_EQ(a_.Find("1")->attempts, 0);
  EXPECT_EQ(a_.Complete("1", fence, "2").kind, Ended::kAccepted);
  EXPECT_EQ(a_.Complete("1", zombie, "1").kind, Ended::kStale);
  EXPECT_EQ(a_.Begin("1").result, "2");
  EXPECT_EQ(a_.Complete("unknown", 1).kind, Ended::kUnknown);
  EXPECT_EQ(a_.Fail("unknown", 1).kind, Ended::kUnknown);
  EXPECT_EQ(store_.Number("select count(*) from inbox", "select count(*) from tenure.inbox"), 1)
      << "an unknown message leaves no trace";
}

TEST_P(InboxContract, AClaimWhoseLeasePassedCompletesWhileNobodyTookOver) {
  const auto fence = Claim("1");
  clock().Advance(5'000);
  EXPECT_EQ(a_.Complete("1", fence).kind, Ended::kAccepted);
}

TEST_P(InboxContract, CommandsOnOneMessageInOneBatchAreDecidedInOrder) {
  const auto fence = Claim("1");
  std::vector<FinishOutcome> ends;
  const auto note = [&](db::Result<FinishOutcome> result) { ends.push_back(result.value()); };
  a_.inbox().Fail({TestProcess::Key("1"), fence, "no"}, nullptr, note);
  a_.inbox().Complete({TestProcess::Key("1"), fence, "1"}, nullptr, note);
  a_.inbox().Complete({TestProcess::Key("2"), fence, "1"}, nullptr, note);
  store::Drive(a_.store());
  ASSERT_EQ(ends.size(), 3u);
  EXPECT_EQ(std::count_if(ends.begin(), ends.end(),
                          [](const auto& end) { return end.kind == Ended::kAccepted; }),
            1);
  EXPECT_EQ(a_.Find("1")->state, State::kRetrying);
}

TEST_P(InboxContract, RetentionRemovesWhatNobodyTouchedAndNoFenceRepeats) {
  clock().Advance(10'000);
  const auto old = Claim("old");
  const auto older = [&] {
    Claim("lapsed", {.lease_ms = 1});
    clock().Advance(1);
    return Claim("lapsed", {.lease_ms = 1});
  }();
  EXPECT_EQ(older, 2);
  a_.Complete("old", old, "1");
  Claim("live", {.lease_ms = 100'000});
  clock().Advance(6'000);
  const auto fresh = Claim("fresh");
  a_.Complete("fresh", fresh);
  const auto reply = a_.Tidy(5'000);
  EXPECT_EQ(reply.rows, 2);
  EXPECT_FALSE(reply.has_more);
  EXPECT_FALSE(a_.Find("old"));
  EXPECT_FALSE(a_.Find("lapsed"));
  EXPECT_TRUE(a_.Find("live"));
  EXPECT_TRUE(a_.Find("fresh"));
  EXPECT_EQ(Claim("old"), 3) << "above all that were removed";
  EXPECT_EQ(a_.Complete("old", old, "2").kind, Ended::kStale) << "a worker from long ago";
  EXPECT_EQ(Claim("lapsed"), 3);
  EXPECT_EQ(Claim("old", {.tenant = "other"}), 1);
}

TEST_P(InboxContract, RetentionCountsFromTheLastChange) {
  const auto fence = Claim("1", {.lease_ms = 1});
  clock().Advance(4'000);
  a_.Complete("1", fence);
  clock().Advance(4'000);
  EXPECT_EQ(a_.Tidy(5'000).rows, 0);
  clock().Advance(1'001);
  EXPECT_EQ(a_.Tidy(5'000).rows, 1);
}

TEST_P(InboxContract, AfterANewIncarnationFencesStartAboveAllThatWereForgotten) {
  const auto zombie = Claim("1");
  db::NewIncarnation(a_.store().engine());
  clock().Advance(1'000);
  EXPECT_EQ(Claim("1"), 2 * (std::int64_t{1} << 40) + 1);
  EXPECT_EQ(a_.Complete("1", zombie).kind, Ended::kStale);
}

TEST_P(InboxContract, AClaimThatIsOverdueForFiveMinutesIsStuckUntilItIsDeliveredAgain) {
  Claim("1");
  const auto done = Claim("2");
  a_.Complete("2", done);
  clock().Advance(1'000 + 300'000);
  EXPECT_EQ(a_.CountStuck(), 0);
  clock().Advance(1);
  EXPECT_EQ(a_.CountStuck(), 1);
  Claim("1");
  EXPECT_EQ(a_.CountStuck(), 0);
}

TEST_P(InboxContract, ADeliveryOfWhatIsDecidedWritesNothing) {
  a_.Complete("done", Claim("done"));
  Claim("claimed");
  const auto writes = store_.Executions("inbox.write_entries");
  for (int i = 0; i < 5; ++i) {
    a_.Begin("done");
    a_.Begin("claimed");
  }
  EXPECT_EQ(store_.Executions("inbox.write_entries"), writes);
  EXPECT_EQ(store_.Executions("inbox.lock_entries"), 3u) << "two claims and a completion";
}

TEST(InboxCommands, AResultWeighsInTheQueue) {
  telemetry::Registry metrics;
  Probe probe(metrics);
  ChangeHandler handler({}, probe);
  const auto bytes = [&](std::size_t size) {
    CompleteCommand command;
    command.result.assign(size, '1');
    return ChangeHandler::ItemType(handler, nullptr, 0, {command}, [](const auto&) {}).bytes();
  };
  EXPECT_EQ(bytes(60'000), bytes(0) + 60'000);
}

TEST_P(InboxContract, EntriesAreListedPageByPageOfASourceAndAStateAndOfNobodyElse) {
  for (const char* source : {"a", "b", "b/c"})
    for (const char* id : {"1", "2"}) Claim(id, {.source = source});
  Claim("3", {.source = "b", .tenant = "another"});
  a_.Complete("9", Claim("9"));
  const auto list = [&](EntriesRequest request) {
    request.tenant = "default";
    return a_.Call(a_.inbox(), &Inbox::List, request);
  };
  const auto names = [&](const EntriesRequest& request) {
    std::string text;
    for (const Entry& each : list(request).rows)
      text += each.key.source + ":" + each.key.message_id + " ";
    return text;
  };
  EXPECT_EQ(names({}), "a:1 a:2 b:1 b:2 b/c:1 b/c:2 github:9 ");
  EXPECT_EQ(names({.source = "b"}), "b:1 b:2 ");
  EXPECT_EQ(names({.source = "b", .after = {"default", "b", "1"}}), "b:2 ");
  EXPECT_EQ(names({.source = "c"}), "");
  EXPECT_EQ(names({.state = State::kDone}), "github:9 ");
  const auto page = list({.after = {"default", "a", "2"}, .limit = 2});
  EXPECT_TRUE(page.has_more);
  EXPECT_EQ(page.rows.back().key.message_id, "2");
  EXPECT_EQ(page.rows.back().row.state, State::kClaimed);
  EXPECT_EQ(page.rows.back().row.received_ms, clock().WallMs());
}

class InboxInTransactions : public InboxContract {
 protected:
  /// The function goes by PostgreSQL's own clock: the test's is ahead of it, so that no claim is
  /// over for the function and an open transaction may stand idle for as long as the test takes.
  InboxInTransactions() {
    clock().Advance(base::SystemClock().WallMs() + 3'600'000 - clock().WallMs());
  }
  static std::string Sql(const std::string& id, std::int64_t fence) {
    return "select tenure.inbox_complete('github', '" + id + "', " + std::to_string(fence) +
           ", '{\"a\": 1}')";
  }
  /// A user's own transaction, with the clock of the machine.
  std::unique_ptr<store::Tables> user_ = store::OpenPostgresTables(store_.url());
};

INSTANTIATE_TEST_SUITE_P(Stores, InboxInTransactions,
                         testing::Values(EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(InboxInTransactions, I1_WhileACompletionIsOpenNobodyWaitsAndNobodyIsToldToProcess) {
  const auto fence = Claim("1");
  user_->Ask("begin");
  user_->Ask(Sql("1", fence));
  const auto during = a_.Begin("1");
  EXPECT_EQ(during.kind, Begun::kInProgress);
  EXPECT_EQ(during.until_ms, clock().WallMs() + 1'000) << "the end of the lease";
  EXPECT_EQ(a_.Complete("1", fence).kind, Ended::kBusy);
  EXPECT_EQ(a_.Fail("1", fence).kind, Ended::kBusy);
  clock().Advance(1'000);
  const auto after_lease = a_.Begin("1");
  EXPECT_EQ(after_lease.kind, Begun::kInProgress) << "the lease is over, and it may yet commit";
  EXPECT_GT(after_lease.until_ms, clock().WallMs());
  EXPECT_EQ(a_.Begin("2").kind, Begun::kProcess) << "others go on";
  user_->Ask("commit");
  const auto done = a_.Begin("1");
  EXPECT_EQ(done.kind, Begun::kDone);
  EXPECT_EQ(done.result, R"({"a": 1})");
}

TEST_P(InboxInTransactions, AfterARollbackTheClaimIsAsBefore) {
  const auto fence = Claim("1");
  user_->Ask("begin");
  user_->Ask(Sql("1", fence));
  user_->Ask("rollback");
  EXPECT_EQ(a_.Begin("1").kind, Begun::kInProgress);
  user_->Ask(Sql("1", fence));
  EXPECT_EQ(a_.Begin("1").kind, Begun::kDone);
}

TEST_P(InboxInTransactions, RetentionPassesOverWhatIsLocked) {
  const auto fence = Claim("1");
  clock().Advance(10'000);
  user_->Ask("begin");
  user_->Ask(Sql("1", fence));
  EXPECT_EQ(a_.Tidy(5'000).rows, 0);
  user_->Ask("rollback");
  EXPECT_EQ(a_.Tidy(5'000).rows, 1);
}

}  // namespace
}  // namespace tenure::inbox
