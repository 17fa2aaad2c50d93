// The contract of messages and timers (M1 to M3) on every store. What becomes of messages
// that somebody holds is in held_test.cpp, waiting in waiting_test.cpp, several processes in
// ensemble_test.cpp.

#include <algorithm>
#include <utility>

#include <gmock/gmock.h>

#include "db/maintenance.hpp"
#include "messages/attention.hpp"
#include "messages/contract_fixture.hpp"
#include "messages/explain.hpp"

namespace tenure::messages {
namespace {

using store::EngineKind;
using Outcomes = std::vector<SettleOutcome>;

const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

INSTANTIATE_TEST_SUITE_P(Stores, MessagesContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kSharedSqlite,
                                         EngineKind::kPostgres, EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(MessagesContract, AMessageIsHandedOutWholeAndFinishedOnce) {
  NewMessage message = TestProcess::Of("mail", R"({"to":"you"})");
  message.correlation_id = "order 7";
  message.headers = R"({"kind":"x"})";
  message.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  message.priority = 3;
  const auto id = a_.Enqueue(message);
  const auto got = a_.ClaimOne("mail");
  EXPECT_EQ(got.id, id);
  EXPECT_EQ(got.fence, 1);
  EXPECT_EQ(got.topic, "mail");
  EXPECT_EQ(got.payload, message.payload);
  EXPECT_EQ(got.kind, PayloadKind::kJson);
  EXPECT_EQ(got.priority, 3);
  EXPECT_EQ(got.attempts, 0);
  EXPECT_EQ(got.crashes, 0);
  EXPECT_EQ(got.correlation_id, message.correlation_id);
  EXPECT_EQ(got.headers, message.headers);
  EXPECT_EQ(got.trace, message.trace);
  EXPECT_EQ(got.lease_until_ms, clock().WallMs() + kDefaultLeaseMs);
  EXPECT_TRUE(a_.Claim("mail").empty()) << "it is in somebody's hands";
  EXPECT_EQ(a_.Ack(got), SettleOutcome::kDone);
  EXPECT_EQ(a_.Ack(got), SettleOutcome::kGone);
  EXPECT_FALSE(a_.Find(id)) << "it leaves no trace";
}

TEST_P(MessagesContract, PayloadsOfAnySizeAndAnyBytesComeBackTheSame) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  NewMessage small = TestProcess::Of("blob", bytes);
  small.kind = PayloadKind::kBytes;
  NewMessage large = TestProcess::Of("blob", std::string(300'000, '\xFF'));
  large.kind = PayloadKind::kBytes;
  a_.EnqueueAll({small, large, TestProcess::Of("blob", "")});
  const auto got = a_.Claim("blob");
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].payload, bytes);
  EXPECT_EQ(got[0].kind, PayloadKind::kBytes);
  EXPECT_EQ(got[1].payload, large.payload);
  EXPECT_EQ(got[2].payload, "");
}

TEST_P(MessagesContract, AClaimTakesByPriorityThenByWhenTheyBecameReady) {
  std::vector<NewMessage> messages;
  for (const auto& [payload, priority] :
       std::vector<std::pair<std::string, int>>{{"1", 5}, {"2", 0}, {"3", 9}, {"4", 5}, {"5", 0}}) {
    messages.push_back(TestProcess::Of("t", payload));
    messages.back().priority = priority;
  }
  a_.EnqueueAll(messages);
  clock().Advance(1);
  a_.Enqueue("u", "6");
  EXPECT_EQ(Payloads(a_.Claim(TestProcess::Ask({"t", "u"})).messages),
            (std::vector<std::string>{"2", "5", "1", "4", "6", "3"}));
}

TEST_P(MessagesContract, AClaimTakesNoMoreThanItAskedForAndOnlyItsTopics) {
  for (int i = 0; i < 5; ++i) a_.Enqueue("t", std::to_string(i));
  a_.Enqueue("other", "x");
  EXPECT_EQ(Payloads(a_.Claim("t", 2)), (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(Payloads(a_.Claim("t", 2)), (std::vector<std::string>{"2", "3"}));
  EXPECT_EQ(Payloads(a_.Claim("t")), (std::vector<std::string>{"4"}));
  EXPECT_TRUE(a_.Claim("t").empty());
  EXPECT_TRUE(a_.Claim("never used").empty());
}

TEST_P(MessagesContract, ClaimsOfOneBatchShareWhatIsThereInOrderOfArrival) {
  for (int i = 0; i < 5; ++i) a_.Enqueue("t", std::to_string(i));
  std::vector<std::vector<std::string>> got;
  for (int i = 0; i < 3; ++i)
    a_.messages().Claim(TestProcess::Ask({"t"}, 2), nullptr, [&](db::Result<ClaimReply> result) {
      got.push_back(Payloads(result.value().messages));
    });
  store::Drive(a_.store());
  EXPECT_EQ(got, (std::vector<std::vector<std::string>>{{"0", "1"}, {"2", "3"}, {"4"}}));
}

TEST_P(MessagesContract, OtherTenantsSeeAndChangeNothing) {
  const auto id = a_.Enqueue("t");
  ClaimRequest foreign = TestProcess::Ask({"t"});
  foreign.tenant = "other";
  EXPECT_TRUE(a_.Claim(foreign).messages.empty());
  const auto got = a_.ClaimOne("t");
  for (const Disposition disposition : {Disposition::kDone, Disposition::kRetry, Disposition::kDead,
                                        Disposition::kExtend, Disposition::kUntouched})
    EXPECT_EQ(a_.Settle(disposition, {{got.id, got.fence, {}, {}, {}}}, "other"),
              Outcomes{SettleOutcome::kGone});
  EXPECT_FALSE(a_.Find(id, "other"));
  EXPECT_EQ(a_.Cancel(id, "other"), CancelOutcome::kUnknown);
  EXPECT_EQ(a_.Ack(got), SettleOutcome::kDone);
}

TEST_P(MessagesContract, M2_AForeignTenantInTheSameBatchHidesNothing) {
  const auto id = a_.Enqueue("t");
  const auto got = a_.ClaimOne("t");
  Outcomes outcomes;
  for (const std::string tenant : {"other", "default"})
    a_.messages().Settle({tenant, Disposition::kDone, {{id, got.fence, {}, {}, {}}}, {}}, nullptr,
                         [&](db::Result<SettleResult> result) {
                           outcomes.push_back(result.value().reply.outcomes.front());
                         });
  store::Drive(a_.store());
  EXPECT_EQ(outcomes, (Outcomes{SettleOutcome::kGone, SettleOutcome::kDone}));
}

TEST_P(MessagesContract, M2_AFormerOwnerChangesNothingAndIsToldSo) {
  const auto id = a_.Enqueue("t");
  const auto first = a_.ClaimOne("t");
  clock().Advance(kDefaultLeaseMs);
  EXPECT_EQ(a_.Reap().crashed, 1);
  for (const Disposition disposition : {Disposition::kDone, Disposition::kRetry, Disposition::kDead,
                                        Disposition::kExtend, Disposition::kUntouched})
    EXPECT_EQ(a_.Settle(disposition, first), SettleOutcome::kStale) << "ready again";
  const auto second = a_.ClaimOne("t");
  EXPECT_EQ(second.id, id);
  EXPECT_GT(second.fence, first.fence);
  EXPECT_EQ(second.crashes, 1);
  for (const Disposition disposition : {Disposition::kDone, Disposition::kRetry, Disposition::kDead,
                                        Disposition::kExtend, Disposition::kUntouched})
    EXPECT_EQ(a_.Settle(disposition, first), SettleOutcome::kStale) << "in other hands";
  EXPECT_EQ(a_.Ack(second), SettleOutcome::kDone);
  EXPECT_EQ(a_.Ack(first), SettleOutcome::kGone);
}

TEST_P(MessagesContract, M2_WhoeverReportsTwiceInOneBatchIsDoneOnce) {
  a_.Enqueue("t");
  const auto got = a_.ClaimOne("t");
  EXPECT_EQ(a_.Settle(Disposition::kDone,
                      {{got.id, got.fence, {}, {}, {}}, {got.id, got.fence, {}, {}, {}}}),
            (Outcomes{SettleOutcome::kDone, SettleOutcome::kGone}));
  a_.Enqueue("t");
  const auto next = a_.ClaimOne("t");
  EXPECT_EQ(a_.Settle(Disposition::kDead,
                      {{next.id, next.fence, "e", {}, {}}, {next.id, next.fence, "e", {}, {}}}),
            (Outcomes{SettleOutcome::kDone, SettleOutcome::kGone}));
}

TEST_P(MessagesContract, M3_ATimerFiresWhenItIsDueAndNotBefore) {
  NewMessage timer = TestProcess::Of("t");
  timer.delay_ms = 1'500;
  const auto id = a_.Enqueue(timer);
  NewMessage later = TestProcess::Of("t");
  later.due_at_ms = clock().WallMs() + 3'000;
  a_.Enqueue(later);
  EXPECT_EQ(a_.Promote().next_due_ms, clock().WallMs() + 1'500);
  clock().Advance(1'499);
  EXPECT_EQ(a_.Promote().rows, 0);
  EXPECT_TRUE(a_.Claim("t").empty());
  clock().Advance(1);
  const auto promoted = a_.Promote();
  EXPECT_EQ(promoted.rows, 1);
  EXPECT_EQ(promoted.late_ms, 0);
  EXPECT_EQ(a_.Promote().rows, 0);
  EXPECT_EQ(a_.ClaimOne("t").id, id);
}

TEST_P(MessagesContract, ATimerCanBeCancelledUntilItHasFired) {
  NewMessage timer = TestProcess::Of("t");
  timer.delay_ms = 1'000;
  const auto cancelled = a_.Enqueue(timer);
  const auto fired = a_.Enqueue(timer);
  EXPECT_EQ(a_.Cancel(cancelled), CancelOutcome::kCancelled);
  EXPECT_EQ(a_.Cancel(cancelled), CancelOutcome::kUnknown);
  clock().Advance(1'000);
  a_.Promote();
  EXPECT_EQ(a_.Cancel(fired), CancelOutcome::kFired);
  a_.Settle(Disposition::kRetry, a_.ClaimOne("t"), "again");
  EXPECT_EQ(a_.Cancel(fired), CancelOutcome::kFired) << "a retry is no timer";
  EXPECT_EQ(a_.Cancel(base::Uuid::V7(1)), CancelOutcome::kUnknown);
}

using Which = MessagesRequest::Which;

/// All pages of that list.
std::vector<base::Uuid> AllOf(TestProcess& process, MessagesRequest request) {
  std::vector<base::Uuid> ids;
  do {
    const MessagesReply page = process.List(request);
    EXPECT_LE(std::ssize(page.rows), request.limit);
    for (const ListedMessage& each : page.rows) ids.push_back(each.place.id);
    request.behind = page.next;
    if (page.next)  // as a client has it
      request.behind = ParseCursor(CursorOf(*page.next, page.which), page.which);
  } while (request.behind);
  return ids;
}

TEST_P(MessagesContract, ATopicsMessagesAreListedInTheOrderOfTheirLines) {
  std::vector<base::Uuid> ids;
  for (const int priority : {5, 0, 9, 5}) {
    NewMessage message = TestProcess::Of("t");
    message.priority = priority;
    ids.push_back(a_.Enqueue(message));
    clock().Advance(1);  // ids of one millisecond have no order
  }
  a_.Enqueue("u");
  const std::vector<base::Uuid> in_line{ids[1], ids[0], ids[3], ids[2]};
  EXPECT_EQ(AllOf(a_, {.topic = "t"}), in_line);
  EXPECT_EQ(AllOf(a_, {.topic = "t", .limit = 1}), in_line);
  EXPECT_EQ(AllOf(a_, {.tenant = "other", .topic = "t"}), std::vector<base::Uuid>());
  EXPECT_EQ(AllOf(a_, {.topic = "none"}), std::vector<base::Uuid>());

  const ClaimedMessage first = a_.ClaimOne("t");
  EXPECT_EQ(first.id, ids[1]);
  EXPECT_EQ(AllOf(a_, {.topic = "t", .which = Which::kClaimed}), std::vector<base::Uuid>{ids[1]});
  EXPECT_EQ(AllOf(a_, {.topic = "t", .which = Which::kReady, .limit = 2}),
            (std::vector<base::Uuid>{ids[0], ids[3], ids[2]}));
  const ListedMessage listed = a_.List({.topic = "t", .limit = 1}).rows.at(0);
  EXPECT_EQ(listed.state(), MessageState::kClaimed);
  EXPECT_EQ(listed.fence, first.fence);
  EXPECT_FALSE(listed.owner.empty());
}

TEST_P(MessagesContract, WhatWaitsForItsTimeIsListedByIt) {
  std::vector<base::Uuid> ids;
  for (const std::int64_t delay_ms : {3'000, 1'000, 2'000, 1'000}) {
    NewMessage timer = TestProcess::Of(ids.empty() ? "u" : "t");
    timer.delay_ms = delay_ms;
    ids.push_back(a_.Enqueue(timer));
  }
  a_.Enqueue("t");
  std::vector<base::Uuid> soon{ids[1], ids[3]};
  std::ranges::sort(soon);
  const std::vector<base::Uuid> all{soon[0], soon[1], ids[2], ids[0]};
  EXPECT_EQ(AllOf(a_, {.which = Which::kWaiting}), all);
  EXPECT_EQ(AllOf(a_, {.which = Which::kWaiting, .limit = 1}), all);
  EXPECT_EQ(AllOf(a_, {.topic = "t", .which = Which::kWaiting}).size(), 3u);
  EXPECT_EQ(AllOf(a_, {.tenant = "other", .which = Which::kWaiting}), std::vector<base::Uuid>());
}

TEST(MessageCursors, AnotherListsIsNone) {
  const auto none = [](std::string_view text, Which which) {
    return !ParseCursor(text, which).has_value();
  };
  for (const char* text : {"", "x", "1", "-", "1-", "-1", "1-x", "1-2-3", "99999999999999999999-1"})
    EXPECT_TRUE(none(text, Which::kInLine) && none(text, Which::kWaiting)) << text;
  EXPECT_TRUE(none("10-4711-0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071", Which::kWaiting));
  EXPECT_TRUE(none("5-0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071", Which::kInLine));
}

TEST_P(MessagesContract, ADedupKeyHoldsForItsWindow) {
  NewMessage message = TestProcess::Of("t", "1");
  message.dedup_key = "order 7";
  const auto first = a_.EnqueueAll({message, message});
  EXPECT_FALSE(first[0].duplicate);
  EXPECT_TRUE(first[1].duplicate) << "also within one request";
  EXPECT_EQ(first[1].id, first[0].id);
  a_.Ack(a_.ClaimOne("t"));
  clock().Advance(599'999);
  const auto again = a_.EnqueueAll({message});
  EXPECT_TRUE(again[0].duplicate) << "also when it is done";
  EXPECT_EQ(again[0].id, first[0].id);
  NewMessage other = message;
  other.topic = "u";
  EXPECT_FALSE(a_.EnqueueAll({other})[0].duplicate) << "another topic";
  EXPECT_FALSE(a_.EnqueueAll({message}, "tenant")[0].duplicate) << "another tenant";
  clock().Advance(1);
  const auto fresh = a_.EnqueueAll({message});
  EXPECT_FALSE(fresh[0].duplicate);
  EXPECT_NE(fresh[0].id, first[0].id);
  EXPECT_EQ(a_.Claim("t").size(), 1u);
}

TEST_P(MessagesContract, APausedTopicHandsOutNothingAndLosesNothing) {
  a_.Enqueue("t");
  a_.ChangeTopic({.name = "t", .paused = true, .paused_reason = "maintenance"});
  EXPECT_TRUE(a_.Claim("t").empty());
  const auto id = a_.Enqueue("t");
  EXPECT_THAT(Why(a_.Find(id).value()), testing::HasSubstr("maintenance"));
  a_.ChangeTopic({.name = "t", .paused = false});
  EXPECT_EQ(a_.Claim("t").size(), 2u);
  a_.ChangeTopic({.name = "new", .paused = true});
  a_.Enqueue("new");
  EXPECT_TRUE(a_.Claim("new").empty()) << "paused before its first message";
}

TEST_P(MessagesContract, AClaimIsToldWhichOfItsTopicsArePaused) {
  a_.Enqueue("open");
  a_.ChangeTopic({.name = "shut", .paused = true, .paused_reason = "maintenance"});
  const auto reply = a_.Claim(TestProcess::Ask({"open", "shut", "never heard of"}));
  EXPECT_EQ(reply.messages.size(), 1u);
  EXPECT_THAT(reply.paused, testing::ElementsAre("shut"));
  EXPECT_TRUE(a_.Claim(TestProcess::Ask({"open"})).paused.empty());

  const auto waiting = a_.Wait(TestProcess::Ask({"shut"}), 1'000);
  a_.Pass(1'000);
  ASSERT_TRUE(waiting->outcome);
  EXPECT_THAT(waiting->outcome->value().paused, testing::ElementsAre("shut"));
}

TEST_P(MessagesContract, FinishedMessagesAreKeptWhereTheTopicSaysSo) {
  a_.ChangeTopic({.name = "t", .retention_ms = 5'000});
  const auto id = a_.Enqueue("t");
  const auto got = a_.ClaimOne("t");
  a_.Settle(Disposition::kDone, {{got.id, got.fence, {}, {}, R"({"ok":true})"}});
  const auto view = a_.Find(id).value();
  EXPECT_EQ(view.state, MessageState::kDone);
  EXPECT_EQ(view.output, R"({"ok":true})");
  EXPECT_EQ(view.ended_ms, clock().WallMs());
  EXPECT_EQ(a_.Tidy().rows, 0);
  clock().Advance(5'000);
  EXPECT_EQ(a_.Tidy().rows, 1);
  EXPECT_FALSE(a_.Find(id));
}

TEST_P(MessagesContract, DeadLettersAreListedRedrivenAndDiscarded) {
  std::vector<base::Uuid> ids;
  for (const std::string topic : {"t", "t", "u"}) {
    clock().Advance(1);
    ids.push_back(a_.Enqueue(topic, "kept"));
    a_.Settle(Disposition::kDead, a_.ClaimOne(topic), "bad");
  }
  const DeadFilter all{.tenant = "default"};
  EXPECT_EQ(a_.Dead({.filter = all}).rows.size(), 3u);
  EXPECT_EQ(a_.Dead({.filter = {.tenant = "other"}}).rows.size(), 0u);
  EXPECT_EQ(a_.Dead({.filter = {.tenant = "default", .reason = DeathReason::kCrashes}}).rows.size(),
            0u);
  const auto page = a_.Dead({.filter = all, .limit = 2});
  EXPECT_TRUE(page.has_more);
  EXPECT_EQ(a_.Dead({.filter = all, .after = page.rows.back().id}).rows.front().id, ids[2]);
  const auto newest = a_.Dead({.filter = all, .newest_first = true, .limit = 2});
  EXPECT_EQ(newest.rows.front().id, ids[2]);
  const auto rest = a_.Dead({.filter = all, .after = newest.rows.back().id, .newest_first = true});
  EXPECT_EQ(rest.rows.size(), 1u);
  EXPECT_EQ(rest.rows.front().id, ids[0]);

  const auto dry = a_.ChangeDead({.filter = {.tenant = "default", .topic = "t"}, .dry_run = true});
  EXPECT_EQ(dry.ids.size(), 2u);
  EXPECT_EQ(a_.Dead({.filter = all}).rows.size(), 3u) << "nothing was changed";
  const auto redriven = a_.ChangeDead({.filter = {.tenant = "default", .topic = "t"}});
  EXPECT_EQ(redriven.ids, (std::vector<base::Uuid>{ids[0], ids[1]}));
  const auto again = a_.Claim("t");
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].id, ids[0]);
  EXPECT_EQ(again[0].payload, "kept");
  EXPECT_EQ(again[0].fence, 2) << "fences go on";
  EXPECT_EQ(again[0].attempts, 0);
  a_.Settle(Disposition::kDead, again[0], "still bad");
  EXPECT_EQ(a_.Find(ids[0])->error, "still bad");

  const auto discarded = a_.ChangeDead({.kind = DeadChangeRequest::Kind::kDiscard,
                                        .filter = {.tenant = "default", .ids = {ids[0], ids[2]}}});
  EXPECT_EQ(discarded.ids.size(), 2u);
  EXPECT_TRUE(a_.Dead({.filter = all}).rows.empty());
  a_.Ack(again[1]);
  clock().Advance(90LL * 24 * 3'600'000);
  EXPECT_GE(a_.Tidy().rows, 1) << "the record of the redriven one";
}

TEST_P(MessagesContract, DeadLettersThatDiedAlikeAreAGroup) {
  const auto die = [&](const std::string& topic, const std::string& error) {
    clock().Advance(1'000);
    const auto id = a_.Enqueue(topic);
    a_.Settle(Disposition::kDead, a_.ClaimOne(topic), error);
    return id;
  };
  die("t", "550 no mailbox\nat 10:00");
  const auto latest = die("t", "550 no mailbox\nat 10:01");
  die("t", "timeout");
  die("u", "550 no mailbox");
  const GroupsReply all = a_.Groups();
  ASSERT_EQ(all.groups.size(), 3u);
  const DeadGroup& largest = all.groups.front();
  EXPECT_EQ(largest.topic, "t");
  EXPECT_EQ(largest.error, "550 no mailbox");
  EXPECT_EQ(largest.count, 2);
  EXPECT_EQ(largest.id, latest);
  EXPECT_EQ(largest.last_ms - largest.first_ms, 1'000);
  EXPECT_FALSE(all.capped);
  EXPECT_EQ(a_.Groups("u").groups.size(), 1u);
  EXPECT_TRUE(a_.Groups("", "other").groups.empty());
}

TEST_P(MessagesContract, ThoseWhoLookAfterItAreToldWhichTopicsAreDeadOrPaused) {
  a_.Enqueue("mail");
  a_.Settle(Disposition::kDead, a_.ClaimOne("mail"), "bad");
  a_.Enqueue("orders");
  a_.ChangeTopic({.name = "orders", .paused = true, .paused_reason = "supplier is down"});
  const auto counts = a_.Count();
  ASSERT_EQ(counts.dead_topics.size(), 1u);
  EXPECT_EQ(counts.dead_topics[0].name, "mail");
  EXPECT_EQ(counts.dead_topics[0].dead, 1);
  ASSERT_EQ(counts.paused.size(), 1u);
  EXPECT_EQ(counts.paused[0].reason, "supplier is down");
  const explain::Glance glance = GlanceOf(counts);
  ASSERT_EQ(glance.concerns.size(), 2u);
  EXPECT_THAT(glance.concerns[0].sentence, testing::HasSubstr("One message of mail is dead"));
  EXPECT_THAT(glance.concerns[1].sentence, testing::HasSubstr("orders is paused since"));
}

/// Of a hundred things of everybody the worst were told: a tenant with as many had the only ones.
TEST_P(MessagesContract, OneTenantsTroublesHideNoOthers) {
  const auto trouble = [&](const std::string& tenant, std::size_t topics) {
    for (std::size_t i = 0; i < topics; ++i) {
      const std::string topic = "t" + std::to_string(i);
      a_.Enqueue(TestProcess::Of(topic), tenant);
      ClaimRequest request = TestProcess::Ask({topic});
      request.tenant = tenant;
      const auto held = a_.Claim(request).messages;
      ASSERT_EQ(held.size(), 1u);
      a_.Settle(Disposition::kDead, {{held[0].id, held[0].fence, "bad", {}, ""}}, tenant);
      a_.ChangeTopic({.tenant = tenant, .name = topic, .paused = true});
    }
  };
  trouble("big", explain::kMostNamed + 1);
  clock().Advance(1'000);
  trouble("small", 1);
  const explain::Glance glance = GlanceOf(a_.Count());
  EXPECT_EQ(std::ranges::count(glance.concerns, "small", &explain::Concern::tenant), 2);
  EXPECT_EQ(glance.concerns.size(), 2 + 2 * explain::kMostNamed);
}

TEST_P(MessagesContract, TopicsAreFoundByTheBeginningOfTheirNames) {
  for (const char* topic : {"mail", "mail/bulk", "map", "\u00e4rger"}) a_.Enqueue(topic);
  const auto found = [&](const std::string& prefix, const std::string& tenant = "default") {
    std::vector<std::string> names;
    for (const auto& topic : a_.FindTopics({tenant, prefix, 10}).topics)
      names.push_back(topic.name);
    return names;
  };
  EXPECT_THAT(found("mail"), testing::ElementsAre("mail", "mail/bulk"));
  EXPECT_THAT(found("\u00e4r"), testing::ElementsAre("\u00e4rger"));
  EXPECT_THAT(found("z"), testing::IsEmpty());
  EXPECT_THAT(found("mail", "other"), testing::IsEmpty());
}

TEST_P(MessagesContract, ARedriveWithARateSpreadsThemOut) {
  for (int i = 0; i < 4; ++i) {
    a_.Enqueue("t");
    a_.Settle(Disposition::kDead, a_.ClaimOne("t"), "bad");
  }
  a_.ChangeDead({.filter = {.tenant = "default"}, .rate = 2});
  EXPECT_EQ(a_.Claim("t").size(), 1u);
  clock().Advance(500);
  a_.Promote();
  EXPECT_EQ(a_.Claim("t").size(), 1u);
  clock().Advance(1'000);
  a_.Promote();
  EXPECT_EQ(a_.Claim("t").size(), 2u);
}

TEST_P(MessagesContract, ASuspectThatIsRedrivenStaysASuspect) {
  a_.ChangeTopic({.name = "t", .max_crashes = 1});
  a_.Enqueue("t", "poison");
  a_.ClaimOne("t");
  clock().Advance(kDefaultLeaseMs);
  EXPECT_EQ(a_.Reap().dead, 1);
  a_.ChangeTopic({.name = "t", .max_crashes = -1});
  a_.ChangeDead({.filter = {.tenant = "default"}});
  clock().Advance(1);
  a_.Enqueue("t", "good");
  EXPECT_EQ(Payloads(a_.Claim("t")), std::vector<std::string>{"poison"});
  EXPECT_EQ(Payloads(a_.Claim("t")), std::vector<std::string>{"good"});
}

TEST_P(MessagesContract, L2_AfterANewIncarnationFencesStartAboveAllThatWereForgotten) {
  a_.Enqueue("t");
  const auto before = a_.ClaimOne("t");
  a_.Settle(Disposition::kUntouched, before);
  db::NewIncarnation(a_.store().engine());
  EXPECT_EQ(a_.ClaimOne("t").fence, 2 * (std::int64_t{1} << 40) + 1);
  EXPECT_EQ(a_.Ack(before), SettleOutcome::kStale);
}

TEST_P(MessagesContract, WhyTellsWhatAMessageWaitsFor) {
  const auto why = [&](const base::Uuid& id) { return Why(a_.Find(id).value()); };
  const auto lonely = a_.Enqueue("lonely");
  EXPECT_THAT(why(lonely), testing::HasSubstr("nobody has ever asked"));
  const auto id = a_.Enqueue("t");
  const auto second = a_.Enqueue("t");
  a_.Claim("t", 1);
  a_.Drive();
  EXPECT_THAT(why(id), testing::HasSubstr("somebody has it since"));
  EXPECT_THAT(why(second), testing::HasSubstr("next in its line"));
  NewMessage timer = TestProcess::Of("t");
  timer.delay_ms = 60'000;
  EXPECT_THAT(why(a_.Enqueue(timer)), testing::HasSubstr("due at"));
  clock().Advance(kUnhandledMs + 1);
  EXPECT_THAT(why(second), testing::HasSubstr("nobody has asked for messages of t since"));
}

/// Notes what it is told, makes what waits for it ready, and takes back what it said before.
class TestFollower final : public Follower {
 public:
  void Ended(db::Transaction& tx, std::span<const EndedMessage> ended, std::int64_t now_ms,
             Notifications& notifications) override {
    for (const EndedMessage& each : ended)
      told.push_back((each.dead ? "dead " : "done ") + each.output + each.error);
    MakeReady(tx, {waiting}, now_ms, notifications);
    withdrawn = Withdraw(tx, {unwanted}).size();
  }
  void Returned(db::Transaction&, std::span<const ReturnedMessage> returned) override {
    for (const ReturnedMessage& each : returned)
      told.push_back("returned " + each.id.ToString() + " of " + std::to_string(each.claimed_ms));
  }
  void Revived(db::Transaction&, const std::vector<base::Uuid>& ids) override {
    for (const base::Uuid& id : ids) told.push_back("revived " + id.ToString());
  }

  base::Uuid waiting{};
  base::Uuid unwanted{};
  std::size_t withdrawn = 0;
  std::vector<std::string> told{};
};

TEST_P(MessagesContract, WhoFollowsMessagesIsToldInTheTransactionThatEndsThem) {
  TestFollower follower;
  a_.messages().Follow(follower);
  const auto followed = [](const std::string& payload) {
    NewMessage message = TestProcess::Of("t", payload);
    message.headers = std::string(kFollowedHeaders) + ":\"j\"}";
    return message;
  };
  a_.Enqueue("t", "1");
  const base::Uuid second = a_.Enqueue(followed("2"));
  a_.Enqueue(followed("3"));
  NewMessage waits = followed("4");
  waits.due_at_ms = kWaitsForFollowerMs;
  follower.waiting = a_.Enqueue(waits);
  follower.unwanted = a_.Enqueue("other", "5");
  const auto claimed = a_.Claim("t");
  ASSERT_EQ(Payloads(claimed), (std::vector<std::string>{"1", "2", "3"}));
  a_.Ack(claimed[0]);
  EXPECT_TRUE(follower.told.empty()) << "nobody follows it";
  a_.Settle(Disposition::kDead, claimed[1], "no");
  EXPECT_EQ(follower.withdrawn, 1u);
  EXPECT_FALSE(a_.Find(follower.unwanted));
  const auto fourth = a_.Claim("t");
  ASSERT_EQ(Payloads(fourth), std::vector<std::string>{"4"}) << "it is ready";
  a_.Settle(Disposition::kUntouched, fourth[0]);
  clock().Advance(1'000);
  const std::int64_t claimed_ms = clock().WallMs();
  const auto again = a_.Claim("t");
  ASSERT_EQ(again.size(), 1u);
  clock().Advance(1'000);
  a_.Settle(Disposition::kRetry, again[0], "later");
  const std::string returned =
      "returned " + fourth[0].id.ToString() + " of " + std::to_string(claimed_ms);
  a_.Settle(Disposition::kDone, {{claimed[2].id, claimed[2].fence, "", {}, "7"}});
  DeadChangeRequest redrive;
  redrive.filter.tenant = "default";
  a_.ChangeDead(redrive);
  EXPECT_EQ(follower.told, (std::vector<std::string>{"dead no", returned, "done 7",
                                                     "revived " + second.ToString()}))
      << "what is given back untouched was not begun";
  redrive.filter.ids = {second};
  EXPECT_TRUE(a_.ChangeDead(redrive).ids.empty()) << "it is redriven already";
}

TEST_P(MessagesContract, TopicsTellHowFullTheyAre) {
  for (int i = 0; i < 3; ++i) a_.Enqueue("t");
  a_.ClaimOne("t");
  a_.Enqueue("u");
  a_.Settle(Disposition::kDead, a_.ClaimOne("u"), "bad");
  clock().Advance(700);
  const auto topics = a_.Topics().rows;
  ASSERT_EQ(topics.size(), 2u);
  EXPECT_EQ(topics[0].name, "t");
  EXPECT_EQ(topics[0].ready, 2);
  EXPECT_EQ(topics[0].claimed, 1);
  EXPECT_EQ(topics[0].now_ms - topics[0].oldest_ms, 700);
  EXPECT_EQ(topics[1].dead, 1);
  EXPECT_EQ(a_.Topics("u").rows.size(), 1u);
  EXPECT_TRUE(a_.Topics("", "other").rows.empty());
  const auto counts = a_.Count();
  ASSERT_EQ(counts.topics.size(), 1u);
  EXPECT_EQ(counts.topics[0].ready, 2);
  EXPECT_EQ(counts.topics[0].oldest_age_ms, 700);
  EXPECT_EQ(counts.dead, 1);
}

TEST_P(MessagesContract, MessagesOfATopicThatNobodyAsksForAreUnhandled) {
  a_.Enqueue("t");
  clock().Advance(3'600'000);
  const auto counts = a_.Count();
  ASSERT_EQ(counts.topics.size(), 1u);
  EXPECT_TRUE(counts.topics[0].unhandled);
  telemetry::Registry metrics;
  Probe(metrics).Counted(counts);
  EXPECT_EQ(metrics.GetGauge("tenure_messages_unhandled", "").value(), 1);
}

TEST_P(MessagesContract, ABatchOfAThousandGoesThroughInOrder) {
  std::vector<NewMessage> many;
  for (int i = 0; i < 1'000; ++i) many.push_back(TestProcess::Of("t", std::to_string(i)));
  a_.EnqueueAll(many);
  std::vector<messages::Settlement> settlements;
  int next = 0;
  for (int claim = 0; claim < 2; ++claim)
    for (const ClaimedMessage& each : a_.Claim("t", 500)) {
      EXPECT_EQ(each.payload, std::to_string(next++));
      settlements.push_back({each.id, each.fence, {}, {}, {}});
    }
  EXPECT_EQ(next, 1'000);
  const auto outcomes = a_.Settle(Disposition::kDone, settlements);
  EXPECT_EQ(std::count(outcomes.begin(), outcomes.end(), SettleOutcome::kDone), 1'000);
}

TEST_P(MessagesContract, ATopicThatNobodyUsesIsClosedAndOpenedByWhoeverSendsToIt) {
  a_.Enqueue("t");
  a_.Ack(a_.ClaimOne("t"));
  a_.Drive();
  a_.ForgetTopics();
  clock().Advance(30LL * 86'400'000);
  a_.ForgetTopics();
  ASSERT_EQ(a_.Topics("t").rows.size(), 1u);
  EXPECT_EQ(a_.Topics("t").rows[0].row.lines, 0);
  NewMessage first = TestProcess::Of("t", "first");
  first.priority = 0;
  a_.Enqueue(first);
  a_.Enqueue("t", "second");
  EXPECT_THAT(Payloads(a_.Claim("t")), testing::ElementsAre("first", "second"));
  clock().Advance(600'000);
  a_.ForgetTopics();
  EXPECT_EQ(a_.Topics("t").rows.size(), 1u);
}

TEST_P(MessagesContract, ATopicThatStaysUnusedGoesAndComesBackWithItsNextMessage) {
  a_.Enqueue("t");
  a_.Enqueue("full");
  a_.ChangeTopic({.name = "paused", .paused = true, .paused_reason = "a test"});
  a_.Ack(a_.ClaimOne("t"));
  a_.Drive();
  const auto names = [&] {
    std::vector<std::string> listed;
    for (const TopicView& each : a_.Topics().rows) listed.push_back(each.name);
    return listed;
  };
  a_.ForgetTopics();
  clock().Advance(30LL * 86'400'000);
  a_.ForgetTopics();
  clock().Advance(599'999);
  for (int i = 0; i < 3; ++i) a_.ForgetTopics();
  EXPECT_THAT(names(), testing::ElementsAre("full", "paused", "t")) << "it is closed for too short";
  clock().Advance(1);
  // Somebody else's transaction in the same cluster may be older, for a moment.
  for (int i = 0; i < 1'000 && names().size() > 2; ++i) a_.ForgetTopics();
  EXPECT_THAT(names(), testing::ElementsAre("full", "paused"));
  a_.Enqueue("t", "again");
  EXPECT_EQ(a_.ClaimOne("t").payload, "again");
  EXPECT_EQ(a_.Claim("full").size(), 1u);
}

}  // namespace
}  // namespace tenure::messages
