// The contract of webhooks (Q2) on every store.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "webhooks/test_process.hpp"

namespace tenure::webhooks {
namespace {

using store::EngineKind;
using testing::ElementsAre;
using testing::HasSubstr;

const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

constexpr std::string_view kTwoBots = R"(
sources: [{name: github, secrets: [{env: S}]}]
bots:
  - {name: all, events: ["*"], ordering_scope: none}
  - {name: issues, events: [issues], ordering_scope: none}
)";

class WebhooksContract : public testing::TestWithParam<EngineKind> {
 protected:
  store::TestStore store_{GetParam(), AllQueries()};
  TestProcess a_{store_};
  /// Another process, where there can be one.
  const std::unique_ptr<TestProcess> other_ =
      store_.is_sqlite() ? nullptr : std::make_unique<TestProcess>(store_);
  TestProcess& b_ = other_ ? *other_ : a_;
};

INSTANTIATE_TEST_SUITE_P(Stores, WebhooksContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres,
                                         EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(WebhooksContract, EachBotThatWantsAnEventGetsOneMessageAndTheBodyIsKeptByteForByte) {
  a_.Apply(kTwoBots);
  const Sent sent{.body = "{ \"repository\":{\"id\":1,\"full_name\":\"acme/shop\"},\"n\" : 1.50 }"};
  const ReceiveReply reply = a_.Receive(sent);
  EXPECT_EQ(reply.kind, ReceiveReply::Kind::kStored);
  EXPECT_FALSE(reply.duplicate);
  EXPECT_EQ(reply.messages, 2);
  const auto payloads = a_.Claim("queue:issues");
  ASSERT_EQ(payloads.size(), 1U);
  EXPECT_THAT(payloads[0], HasSubstr(reply.event_id.ToString()));
  EXPECT_THAT(payloads[0], HasSubstr(R"("payload":)" + sent.body + "}"));
  EXPECT_EQ(a_.Claim("queue:all").size(), 1U);
  const auto payload =
      a_.Call(a_.webhooks(), &Webhooks::Payload, FindRequest{"default", reply.event_id});
  EXPECT_EQ(payload.body, sent.body);
  EXPECT_EQ(payload.content_type, "application/json");
  EXPECT_FALSE(
      a_.Call(a_.webhooks(), &Webhooks::Payload, FindRequest{"other", reply.event_id}).found);
}

TEST_P(WebhooksContract, AnEventThatNoBotWantsIsStoredAllTheSame) {
  a_.Apply("sources: [{name: github, secrets: [{env: S}]}]");
  const ReceiveReply reply = a_.Receive({});
  EXPECT_EQ(reply.messages, 0);
  const auto found =
      a_.Call(a_.webhooks(), &Webhooks::Find, FindRequest{"default", reply.event_id}).event;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->event, "issues");
  EXPECT_EQ(found->action, "opened");
  EXPECT_EQ(found->repository, "acme/shop");
  EXPECT_EQ(found->entity_type, "issue");
  EXPECT_EQ(found->entity_id, "7");
  EXPECT_EQ(found->sender, "ada");
  EXPECT_EQ(found->received_ms, store_.clock().WallMs());
}

TEST_P(WebhooksContract, Q2_OfAnyNumberOfDeliveriesOfOneIdOneMakesMessages) {
  a_.Apply(kTwoBots);
  // Five in one batch, and more from another process.
  std::vector<ReceiveReply> told;
  for (int i = 0; i < 5; ++i)
    a_.webhooks().Receive({Made({})}, [&](auto result) { told.push_back(result.value()); });
  a_.Drive();
  told.push_back(b_.Receive({}));
  ASSERT_EQ(told.size(), 6U);
  EXPECT_FALSE(told[0].duplicate);
  for (std::size_t i = 1; i < told.size(); ++i) {
    EXPECT_TRUE(told[i].duplicate);
    EXPECT_EQ(told[i].event_id, told[0].event_id);
  }
  EXPECT_EQ(a_.Claim("queue:issues").size(), 1U);
  EXPECT_EQ(a_.Events().size(), 1U);
}

TEST_P(WebhooksContract, Q2_TheIdAloneIsNotEnoughAndItIsForgottenWithItsWindow) {
  a_.Apply("sources: [{name: github, secrets: [{env: S}]}, {name: ghe, secrets: [{env: S}]}]");
  EXPECT_FALSE(a_.Receive({}).duplicate);
  EXPECT_FALSE(a_.Receive({.hook = "43"}).duplicate) << "of another hook";
  EXPECT_FALSE(a_.Receive({.source = "ghe"}).duplicate);
  store_.clock().Advance(kTestDedupMs - 1);
  EXPECT_TRUE(a_.Receive({}).duplicate);
  store_.clock().Advance(1);
  EXPECT_FALSE(a_.Receive({}).duplicate);
  EXPECT_TRUE(a_.Receive({}).duplicate);
}

TEST_P(WebhooksContract, AFileIsInForceForAllProcessesAtOnce) {
  EXPECT_EQ(a_.Receive({}).kind, ReceiveReply::Kind::kNoSource);
  const ApplyReply first = a_.Apply(kTwoBots);
  EXPECT_EQ(first.revision, 1);
  EXPECT_EQ(first.changes.size(), 3U);
  EXPECT_EQ(b_.Receive({}).messages, 2) << "the other one has never seen it";
  EXPECT_EQ(b_.webhooks().bots().Get()->revision, 1) << "and knows it now";
  EXPECT_EQ(b_.Apply(kTwoBots).revision, 1) << "the same is no revision";
  const ApplyReply second = b_.Apply(
      "sources: [{name: github, secrets: [{env: S}]}]\n"
      "bots: [{name: all, events: [push], ordering_scope: none}]");
  EXPECT_EQ(second.revision, 2);
  EXPECT_EQ(a_.Receive({.id = "2"}).messages, 0);
  EXPECT_EQ(a_.Receive({.id = "3", .event = "push"}).messages, 1);
}

TEST_P(WebhooksContract, AnApplyOnAMovedRevisionChangesNothing) {
  EXPECT_EQ(a_.Apply(kTwoBots, 1).kind, ApplyReply::Kind::kMoved);
  EXPECT_EQ(a_.Apply(kTwoBots, 0).revision, 1);
  EXPECT_EQ(a_.Apply("bots: []", 0).kind, ApplyReply::Kind::kMoved);
  ApplyRequest dry = TestProcess::Request("bots: []");
  dry.dry_run = true;
  const ApplyReply would = a_.Call(a_.webhooks(), &Webhooks::Apply, dry);
  EXPECT_EQ(would.changes.size(), 3U);
  EXPECT_EQ(would.revision, 1);
  ApplyRequest first = TestProcess::Request("bots: []");
  first.only_first = true;
  const ApplyReply kept = a_.Call(a_.webhooks(), &Webhooks::Apply, first);
  EXPECT_TRUE(kept.kept);
  EXPECT_EQ(kept.changes.size(), 3U) << "what differs";
  const auto now = a_.Call(a_.webhooks(), &Webhooks::InForce, InForceRequest{}).bots;
  ASSERT_TRUE(now && now->OfTenant("default"));
  EXPECT_EQ(now->OfTenant("default")->file.bots.size(), 2U);
  EXPECT_EQ(now->OfTenant("default")->person, "ada");
  EXPECT_FALSE(a_.Call(a_.webhooks(), &Webhooks::InForce, InForceRequest{1}).bots);
}

TEST_P(WebhooksContract, ASourceOfAnotherTenantIsTaken) {
  a_.Apply("tenant: one\nsources: [{name: github, secrets: [{env: S}]}]");
  const ApplyReply reply = a_.Apply("tenant: two\nsources: [{name: github, secrets: [{env: S}]}]");
  EXPECT_EQ(reply.kind, ApplyReply::Kind::kSourceTaken);
  EXPECT_EQ(reply.name, "github");
  EXPECT_EQ(a_.Apply("tenant: two\nsources: [{name: ours, secrets: [{env: S}]}]").revision, 2);
  const ReceiveReply mine = b_.Receive({.source = "ours"});
  EXPECT_TRUE(b_.Call(b_.webhooks(), &Webhooks::Find, FindRequest{"two", mine.event_id}).event);
  EXPECT_FALSE(b_.Call(b_.webhooks(), &Webhooks::Find, FindRequest{"one", mine.event_id}).event);
}

TEST_P(WebhooksContract, AnOrderedBotGetsWhatIsAboutOneThingInOneSessionInTheOrderOfItsCommits) {
  a_.Apply(
      "sources: [{name: github, secrets: [{env: S}]}]\n"
      "bots:\n"
      "  - {name: ordered, events: [\"*\"], ordering_scope: entity, checks: pull_requests}\n"
      "  - {name: repos, events: [issues], ordering_scope: repository}\n");
  const auto body = [](std::string_view members) {
    return fmt::format(R"({{{},"repository":{{"id":1,"full_name":"acme/shop"}}}})", members);
  };
  EXPECT_EQ(
      a_.Receive({.id = "1", .body = body(R"("action":"opened","issue":{"number":7})")}).messages,
      2);
  b_.Receive({.id = "2", .body = body(R"("issue":{"number":7})"), .event = "issue_comment"});
  const ReceiveReply third =
      a_.Receive({.id = "3", .body = body(R"("action":"closed","issue":{"number":7})")});
  b_.Receive({.id = "4", .body = body(R"("issue":{"number":8})")});
  const auto accepted = a_.Accept("ordered");
  ASSERT_EQ(accepted.sessions.size(), 2U);
  const auto& seven = accepted.sessions[0].key == "github.com/r1/thread/7" ? accepted.sessions[0]
                                                                           : accepted.sessions[1];
  EXPECT_EQ(seven.name, "acme/shop/issue/7");
  EXPECT_EQ(seven.entity, "issue");
  ASSERT_EQ(seven.messages.size(), 3U);
  EXPECT_EQ(seven.messages[2].event_id, third.event_id) << "the payload is stored once";
  EXPECT_EQ(seven.messages[2].sequence, seven.messages[0].sequence + 2);
  EXPECT_EQ(a_.Accept("repos").sessions.at(0).messages.size(), 3U);

  const std::string pull =
      R"({"number":2,"base":{"repo":{"id":1}}},{"number":3,"base":{"repo":{"id":1}}})";
  const ReceiveReply check =
      a_.Receive({.id = "5",
                  .body = body(fmt::format(R"("check_run":{{"id":9,"pull_requests":[{}]}})", pull)),
                  .event = "check_run"});
  EXPECT_EQ(check.messages, 2);
  const auto copies = a_.Accept("ordered");
  ASSERT_EQ(copies.sessions.size(), 2U);
  for (const auto& session : copies.sessions)
    EXPECT_EQ(session.messages.at(0).copy, session.key == "github.com/r1/thread/2" ? "1/2" : "2/2");
}

TEST_P(WebhooksContract, AllThatIsAboutOnePullRequestIsInOneSessionWhateverItsRepositoryIsCalled) {
  a_.Apply(
      "sources: [{name: github, secrets: [{env: S}]}]\n"
      "bots: [{name: b, events: [\"*\"], ordering_scope: entity}]\n");
  struct Row {
    std::string_view event, members;
  };
  const Row rows[] = {
      {"pull_request", R"("action":"opened","pull_request":{"number":2})"},
      {"issue_comment", R"("action":"created","issue":{"number":2,"pull_request":{"url":"u"}})"},
      {"pull_request_review", R"("action":"submitted","pull_request":{"number":2})"},
      {"pull_request_review_comment", R"("action":"created","pull_request":{"number":2})"},
      {"pull_request_review_thread", R"("action":"resolved","pull_request":{"number":2})"},
      {"pull_request", R"("action":"labeled","pull_request":{"number":2})"},
      {"issues", R"("action":"labeled","issue":{"number":2,"pull_request":{"url":"u"}})"},
      {"pull_request", R"("action":"synchronize","pull_request":{"number":2})"},
      {"pull_request", R"("action":"closed","pull_request":{"number":2})"},
  };
  // Renamed, transferred, and written in other letters in between.
  const std::string_view names[] = {"acme/shop", "acme/store", "other/store", "OTHER/Store"};
  std::vector<base::Uuid> sent;
  for (const Row& row : rows) {
    TestProcess& process = sent.size() % 2 == 0 ? a_ : b_;
    const std::string body = fmt::format(R"({{{},"repository":{{"id":1,"full_name":"{}"}}}})",
                                         row.members, names[sent.size() % std::size(names)]);
    sent.push_back(
        process
            .Receive(
                {.id = std::to_string(sent.size()), .body = body, .event = std::string(row.event)})
            .event_id);
  }
  // One that took over the first name.
  a_.Receive({.id = "other",
              .body = R"({"pull_request":{"number":2},)"
                      R"("repository":{"id":9,"full_name":"acme/shop"}})",
              .event = "pull_request"});
  const auto accepted = b_.Accept("b").sessions;
  ASSERT_EQ(accepted.size(), 2U);
  std::vector<base::Uuid> handed;
  for (const auto& message : accepted[0].messages) handed.push_back(message.event_id.value());
  EXPECT_EQ(accepted[0].key, "github.com/r1/thread/2");
  EXPECT_EQ(handed, sent);
  EXPECT_EQ(accepted[1].key, "github.com/r9/thread/2");
  EXPECT_EQ(accepted[1].messages.size(), 1U);
}

TEST_P(WebhooksContract, OneFullQueueRefusesAWebhookForAllBotsAndNothingOfItIsStored) {
  a_.Apply(
      "sources: [{name: github, secrets: [{env: S}]}]\n"
      "bots:\n"
      "  - {name: small, events: [issues], ordering_scope: entity, max_size_in_megabytes: 1}\n"
      "  - {name: all, events: [\"*\"], ordering_scope: none}\n");
  const auto large = [](std::string_view id) {
    return Sent{.id = std::string(id), .body = R"({"x":")" + std::string(600'000, 'x') + R"("})"};
  };
  EXPECT_EQ(a_.Receive(large("1")).messages, 2);
  // Those that come together are not refused with the one that does not fit.
  std::vector<std::string> told;
  for (const Sent& sent : {large("2"), Sent{.id = "3", .body = "{}", .event = "push"}})
    a_.webhooks().Receive({Made(sent)}, [&](auto result) {
      told.emplace_back(result.ok() ? "stored" : result.fault().what());
    });
  a_.Drive();
  EXPECT_THAT(told, testing::UnorderedElementsAre("full queue: small", "stored"));
  EXPECT_EQ(a_.Events().size(), 2U);
  EXPECT_EQ(a_.Claim("queue:all").size(), 2U);
}

TEST_P(WebhooksContract, ABotWithoutOrderIsFullAsALookFoundIt) {
  a_.Apply(
      "sources: [{name: github, secrets: [{env: S}]}]\n"
      "bots: [{name: b, events: [issues], ordering_scope: none, max_size_in_megabytes: 1}]\n");
  a_.Receive({.id = "1"});
  const SnapshotPtr bots = a_.webhooks().bots().Get();
  const TopicSizesRequest limited = FullTopics::Limited(*bots);
  ASSERT_EQ(limited.bots.size(), 1U);
  const TopicSizesReply sizes = a_.Call(a_.webhooks(), &Webhooks::TopicSizes, limited);
  EXPECT_GT(sizes.bytes.at(0), 100);
  a_.webhooks().full_topics().Learn(*bots, limited, sizes);
  EXPECT_EQ(a_.Receive({.id = "2"}).messages, 1) << "there is room";
  a_.webhooks().full_topics().Learn(*bots, limited, {{1 << 20}});
  std::string told;
  a_.webhooks().Receive({Made({.id = "3"})}, [&](auto result) { told = result.fault().what(); });
  a_.Drive();
  EXPECT_EQ(told, "full queue: b");
  EXPECT_EQ(a_.Receive({.id = "4", .event = "push"}).messages, 0) << "it does not want that one";
  EXPECT_EQ(a_.Events().size(), 3U);
}

TEST_P(WebhooksContract, ABotThatIsGoneDrainsAndOneWithOtherKeysHasANewGeneration) {
  const auto file = [](std::string_view bots) {
    return fmt::format("sources: [{{name: github, secrets: [{{env: S}}]}}]\nbots: [{}]", bots);
  };
  a_.Apply(file("{name: b, events: [issues], ordering_scope: entity}"));
  a_.Receive({.id = "1"});
  b_.Apply(file("{name: b, events: [issues], ordering_scope: repository}"));
  a_.Receive({.id = "2"});
  const auto first = a_.Accept("b");
  ASSERT_EQ(first.sessions.size(), 1U) << "the new generation waits for the old one";
  EXPECT_EQ(first.sessions[0].key, "github.com/r1/thread/7");
  b_.Apply(file(""));
  EXPECT_EQ(a_.Receive({.id = "3"}).messages, 0);
}

TEST_P(WebhooksContract, AnEventSaysWhereItsMessagesAre) {
  a_.Apply(
      "sources: [{name: github, secrets: [{env: S}]}]\n"
      "bots:\n"
      "  - {name: any, events: [\"*\"], ordering_scope: none}\n"
      "  - {name: ordered, events: [issues], ordering_scope: entity}\n");
  const base::Uuid first = a_.Receive({.id = "1"}).event_id;
  const base::Uuid second = a_.Receive({.id = "2"}).event_id;
  const auto ways = [&](const base::Uuid& id, const std::string& tenant = "default") {
    std::vector<std::string> lines;
    for (const Way& way : b_.Call(b_.webhooks(), &Webhooks::Find, FindRequest{tenant, id}).ways)
      lines.push_back(fmt::format("{} {} {}", way.bot, ToText(way.state), way.sequence));
    return lines;
  };
  EXPECT_THAT(ways(first), ElementsAre("any waiting 0", "ordered waiting 1"));
  EXPECT_THAT(ways(first, "other"), ElementsAre());
  a_.Claim("queue:any");
  EXPECT_EQ(a_.Accept("ordered").sessions.at(0).messages.size(), 2U);
  EXPECT_THAT(ways(second), ElementsAre("any held 0", "ordered held 2"));
}

TEST_P(WebhooksContract, StoredEventsAreAppendedToABotThatCameLaterInTheirOrder) {
  a_.Apply("sources: [{name: github, secrets: [{env: S}]}]");
  std::vector<base::Uuid> events;
  for (const char* id : {"1", "2", "3"}) events.push_back(a_.Receive({.id = id}).event_id);
  a_.Receive({.id = "4", .body = "{}", .event = "push"});
  const auto replay = [&](ReplayRequest request) {
    request.tenant = "default";
    request.bot = "late";
    return b_.Call(b_.webhooks(), &Webhooks::Replay, request);
  };
  EXPECT_EQ(replay({}).kind, ReplayReply::Kind::kNoBot);
  a_.Apply(
      "sources: [{name: github, secrets: [{env: S}]}]\n"
      "bots: [{name: late, events: [issues], ordering_scope: entity}]\n");
  const ReplayReply dry = replay({.dry_run = true});
  EXPECT_EQ(dry.found, 3);
  EXPECT_EQ(dry.changed, 0);
  EXPECT_EQ(replay({.event = "push"}).found, 0) << "it does not want them";
  EXPECT_EQ(replay({.since_ms = store_.clock().WallMs() + 1}).found, 0);
  const ReplayReply page = replay({.limit = 2});
  EXPECT_EQ(page.changed, 2);
  ASSERT_GT(page.after, 0);
  const ReplayReply rest = replay({.after = page.after});
  EXPECT_EQ(rest.changed, 1);
  EXPECT_EQ(rest.after, 0);
  const auto accepted = a_.Accept("late");
  ASSERT_EQ(accepted.sessions.size(), 1U);
  ASSERT_EQ(accepted.sessions[0].messages.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(accepted.sessions[0].messages[i].event_id, events[i]);
}

TEST_P(WebhooksContract, WhatProcessesSawOfHooksIsKeptTogether) {
  HookNotes& notes = a_.webhooks().hooks();
  notes.Delivered("github", "42", 2'000);
  notes.Pinged("github", "42", 1'000);
  notes.Refused("github");
  notes.Refused("github");
  const NoteHooksRequest taken = notes.Take();
  EXPECT_TRUE(notes.Take().hooks.empty());
  a_.Call(a_.webhooks(), &Webhooks::NoteHooksSeen, taken);
  b_.Call(b_.webhooks(), &Webhooks::NoteHooksSeen,
          NoteHooksRequest{{{"github", "42", 1'500, 3'000}, {"github", "43", 1'000, 0}},
                           {{"github", 5}}});
  const HooksReply seen =
      b_.Call(b_.webhooks(), &Webhooks::Hooks, HooksRequest{{"github", "other"}});
  ASSERT_EQ(seen.hooks.size(), 2U);
  EXPECT_EQ(seen.hooks[0].hook, "42");
  EXPECT_EQ(seen.hooks[0].delivered_ms, 2'000);
  EXPECT_EQ(seen.hooks[0].pinged_ms, 3'000);
  ASSERT_EQ(seen.refused.size(), 1U);
  EXPECT_EQ(seen.refused[0].count, 7);
}

TEST_P(WebhooksContract, ABotWithoutOrderHasItsBudgetsInItsTopic) {
  a_.Apply(
      "sources: [{name: github, secrets: [{env: S}]}]\n"
      "bots: [{name: b, events: [issues], ordering_scope: none, max_delivery_count: 7}]\n");
  EXPECT_EQ(store_.Number("select max_attempts + max_crashes from topics where name = 'queue:b'",
                          "select max_attempts + max_crashes from tenure.topics where name = "
                          "'queue:b'"),
            14);
}

TEST_P(WebhooksContract, ALargePayloadHasAnAddressInItsMessage) {
  a_.Apply(kTwoBots);
  const Sent sent{.body = R"({"x":")" + std::string(2'000, 'x') + R"("})"};
  const ReceiveReply reply = a_.Receive(sent);
  const auto payloads = a_.Claim("queue:all");
  ASSERT_EQ(payloads.size(), 1U);
  EXPECT_THAT(payloads[0], HasSubstr(R"("payload":null,"payload_url":"/api/v1/webhooks/events/)" +
                                     reply.event_id.ToString() + "/payload\""));
  store_.clock().Advance(kTestDedupMs + 1);
  EXPECT_EQ(a_.Call(a_.webhooks(), &Webhooks::ForgetSomeEvents, ForgetRequest{kTestDedupMs}).rows,
            0)
      << "somebody will ask for it";
}

TEST_P(WebhooksContract, APayloadThatIsNestedTooDeepForReadersHasAnAddressToo) {
  a_.Apply(kTwoBots);
  const std::string deep = std::string(60, '[') + std::string(60, ']');
  a_.Receive({.body = R"({"x":)" + deep + "}"});
  EXPECT_THAT(a_.Claim("queue:all"), ElementsAre(HasSubstr(R"("payload":null,"payload_url":)")));
}

TEST_P(WebhooksContract, AnEventStaysAsLongAsAMessageOfItWaitsOrIsDead) {
  a_.Apply(
      "sources: [{name: github, secrets: [{env: S}]}]\n"
      "bots:\n"
      "  - {name: any, events: [push], ordering_scope: none}\n"
      "  - {name: ordered, events: [issues], ordering_scope: entity, max_delivery_count: 1, "
      "history: 0s}\n");
  const base::Uuid push = a_.Receive({.id = "1", .event = "push"}).event_id;
  const base::Uuid issue = a_.Receive({.id = "2"}).event_id;
  const auto forget = [&] {
    store_.clock().Advance(kTestDedupMs + 1);
    return a_.Call(a_.webhooks(), &Webhooks::ForgetSomeEvents, ForgetRequest{kTestDedupMs}).rows;
  };
  const auto has_body = [&](const base::Uuid& id) {
    return a_.Call(a_.webhooks(), &Webhooks::Payload, FindRequest{"default", id}).found;
  };
  EXPECT_EQ(forget(), 0);
  const auto held = a_.Accept("ordered").sessions.at(0);
  a_.Tell("ordered", queues::Report::Kind::kFail, held, 1);
  EXPECT_EQ(forget(), 0) << "it is parked";
  EXPECT_TRUE(has_body(issue));
  a_.Acknowledge(a_.ClaimMessages("queue:any").at(0));
  EXPECT_EQ(forget(), 1);
  EXPECT_FALSE(has_body(push));
  EXPECT_TRUE(has_body(issue));
}

TEST_P(WebhooksContract, WhatASourceLetInThatIsAnotherOneNowIsJudgedAgain) {
  a_.Apply(kTwoBots);
  b_.Learn();
  const auto receive = [&](std::string_view id) {
    auto delivery = std::make_shared<Delivery>();
    const DeliveryPtr made = Made({.id = std::string(id)});
    delivery->keeps = made;
    delivery->source = made->source;
    delivery->hook = made->hook;
    delivery->delivery_id = made->delivery_id;
    delivery->event = made->event;
    delivery->headers = made->headers;
    delivery->body = made->body;
    delivery->payload = made->payload;
    delivery->judged_by = b_.webhooks().bots().Get();
    return [this, delivery] {
      return b_.Call(b_.webhooks(), &Webhooks::Receive, ReceiveRequest{delivery});
    };
  };
  const auto before = receive("1");
  a_.Apply("sources: [{name: github, secrets: [{env: T}]}]");
  EXPECT_EQ(before().kind, ReceiveReply::Kind::kJudgeAgain);
  EXPECT_TRUE(a_.Events().empty());
  EXPECT_EQ(receive("1")().kind, ReceiveReply::Kind::kStored);
  const auto same_source = receive("2");
  a_.Apply(
      "sources: [{name: github, secrets: [{env: T}]}]\n"
      "bots: [{name: all, events: [\"*\"], ordering_scope: none}]");
  EXPECT_EQ(same_source().messages, 1) << "only its bots are others";
}

TEST_P(WebhooksContract, EventsAreListedTheLatestFirstByWhatTheyAreAbout) {
  a_.Apply("sources: [{name: github, secrets: [{env: S}]}]");
  for (int i = 1; i <= 3; ++i) {
    a_.Receive({.id = std::to_string(i)});
    store_.clock().Advance(1'000);
  }
  a_.Receive({.id = "4", .body = "{}", .event = "push"});
  const auto ids = [&](ListRequest list) {
    std::vector<std::string> found;
    for (const EventRow& row : a_.Events(std::move(list))) found.push_back(row.delivery_id);
    return found;
  };
  EXPECT_THAT(ids({}), ElementsAre("4", "3", "2", "1"));
  EXPECT_THAT(ids({.event = "push"}), ElementsAre("4"));
  EXPECT_THAT(ids({.delivery_id = "2"}), ElementsAre("2"));
  EXPECT_THAT(ids({.correlation_id = a_.Events().back().event_id}), ElementsAre("1"));
  EXPECT_THAT(ids({.action = "opened", .repository = "ACME/shop"}), ElementsAre("3", "2", "1"));
  EXPECT_THAT(ids({.entity_type = "issue", .entity_id = "8"}), ElementsAre());
  EXPECT_THAT(ids({.since_ms = store_.clock().WallMs()}), ElementsAre("4"));
  const auto page = a_.Events({.limit = 2});
  EXPECT_THAT(ids({.below = page.back().number}), ElementsAre("2", "1"));
  EXPECT_THAT(ids({.tenant = "other"}), ElementsAre());
}

TEST_P(WebhooksContract, WhatIsOldIsForgottenWithItsBody) {
  a_.Apply("sources: [{name: github, secrets: [{env: S}]}]");
  const ReceiveReply old = a_.Receive({});
  store_.clock().Advance(kTestDedupMs + 1);
  a_.Receive({.id = "2"});
  const ForgetRequest forget{kTestDedupMs};
  EXPECT_EQ(a_.Call(a_.webhooks(), &Webhooks::ForgetSomeDeliveries, forget).rows, 1);
  EXPECT_EQ(a_.Call(a_.webhooks(), &Webhooks::ForgetSomeEvents, forget).rows, 1);
  EXPECT_EQ(a_.Events().size(), 1U);
  EXPECT_FALSE(
      a_.Call(a_.webhooks(), &Webhooks::Payload, FindRequest{"default", old.event_id}).found);
}

}  // namespace
}  // namespace tenure::webhooks
