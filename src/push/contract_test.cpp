// Subscriptions, and who delivers them, on every store.

#include <gmock/gmock.h>

#include "push/signature.hpp"
#include "push/test_process.hpp"

namespace tenure::push {
namespace {

using store::EngineKind;

const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

class PushContract : public testing::TestWithParam<EngineKind> {
 protected:
  base::ManualClock& clock() { return store_.clock(); }
  /// Nothing is under way any more, and everybody has looked around.
  void Settle(TestProcess& process) { process.Pass(3'000, 500); }

  const std::vector<const db::Query*> queries_ = QueriesOfPush();
  store::TestStore store_{GetParam(), queries_};
  TestProcess a_{store_, "a"};
};
INSTANTIATE_TEST_SUITE_P(Stores, PushContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres),
                         store::EngineName);

TEST_P(PushContract, APutMakesChangesAndThenChangesNothing) {
  const Outcome made = a_.Put("s", "orders");
  EXPECT_EQ(made.kind, ChangeKind::kCreated);
  EXPECT_TRUE(ParseSigningSecret(made.secret));
  EXPECT_EQ(made.subscription.revision, 1);
  const Outcome again = a_.Put("s", "orders");
  EXPECT_EQ(again.kind, ChangeKind::kUnchanged);
  EXPECT_EQ(again.secret, "");
  EXPECT_EQ(again.subscription.id, made.subscription.id);
  PutCommand other = a_.Wish("s", "invoices");
  other.max_in_flight = 3;
  other.headers = HeaderValues{{"Authorization", "Bearer x"}};
  EXPECT_EQ(a_.Change(other).subscription.revision, 2);
  EXPECT_EQ(a_.Change(other).kind, ChangeKind::kUnchanged);
  other.headers.reset();
  EXPECT_EQ(a_.Change(other).kind, ChangeKind::kUnchanged) << "headers that are left out stay";
  const auto found = a_.Find("s");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->topic, "invoices");
  EXPECT_EQ(found->header_names, R"(["Authorization"])");
  EXPECT_EQ(found->headers.find("Bearer"), std::string::npos) << "it is sealed";
  EXPECT_EQ(OpenSecrets(a_.vault(), found->id, found->secrets, 0).front().text, made.secret);
  other.revision = 1;
  EXPECT_EQ(a_.Change(other).kind, ChangeKind::kOtherRevision);
}

TEST_P(PushContract, ATopicHasOneSubscription) {
  a_.Put("s", "orders");
  const Outcome taken = a_.Put("t", "orders");
  EXPECT_EQ(taken.kind, ChangeKind::kTopicTaken);
  EXPECT_EQ(taken.taken_by, "s");
  EXPECT_FALSE(a_.Find("t"));
  EXPECT_EQ(a_.Put("t", "invoices").kind, ChangeKind::kCreated);
  EXPECT_EQ(a_.Put("t", "orders").kind, ChangeKind::kTopicTaken);
  EXPECT_EQ(a_.Find("t")->topic, "invoices");
  EXPECT_EQ(a_.Put("s", "parcels").kind, ChangeKind::kChanged);
  EXPECT_EQ(a_.Put("t", "orders").kind, ChangeKind::kChanged) << "it was given back";
  PutCommand of_another = a_.Wish("s", "orders");
  of_another.key.tenant = "acme";
  EXPECT_EQ(a_.Change(of_another).kind, ChangeKind::kCreated)
      << "another tenant's topic is another";
}

TEST_P(PushContract, ADeletedOneIsGoneAndItsTopicFree) {
  const base::Uuid first = a_.Put("s", "orders").subscription.id;
  EXPECT_EQ(a_.Change(RemoveCommand{{"default", "s"}}).kind, ChangeKind::kRemoved);
  EXPECT_EQ(a_.Change(RemoveCommand{{"default", "s"}}).kind, ChangeKind::kUnknown);
  EXPECT_NE(a_.Put("s", "orders").subscription.id, first);
  a_.Put("r", "x");
  const auto page = a_.Call(a_.subscriptions(), &Subscriptions::List, {"default", "", 1});
  ASSERT_EQ(page.rows.size(), 1u);
  EXPECT_EQ(page.rows[0].name, "r");
  EXPECT_TRUE(page.has_more);
}

TEST_P(PushContract, ARotatedSecretSignsForADayBesideTheNewOne) {
  const std::string first = a_.Put("s", "orders").secret;
  const std::string second = a_.Change(RotateCommand{{"default", "s"}}).secret;
  EXPECT_NE(first, second);
  const auto found = a_.Find("s");
  const auto active = [&](std::int64_t in_ms) {
    std::vector<std::string> texts;
    for (const auto& secret :
         OpenSecrets(a_.vault(), found->id, found->secrets, clock().WallMs() + in_ms))
      texts.push_back(secret.text);
    return texts;
  };
  EXPECT_THAT(active(kOldSecretMs - 1'000), testing::ElementsAre(second, first));
  EXPECT_THAT(active(kOldSecretMs + 1'000), testing::ElementsAre(second));
  PutCommand replace = a_.Wish("s", "orders");
  replace.secret = NewSigningSecret();
  a_.Change(replace);
  const auto replaced = a_.Find("s");
  EXPECT_EQ(OpenSecrets(a_.vault(), replaced->id, replaced->secrets, 0).size(), 1u)
      << "a PUT replaces at once";
  EXPECT_EQ(a_.Change(RotateCommand{{"default", "none"}}).kind, ChangeKind::kUnknown);
}

TEST_P(PushContract, WhatIsAcknowledgedIsDoneAndCounted) {
  a_.Put("s", "orders");
  a_.Enqueue("orders", 3);
  a_.deliverer().Start();
  Settle(a_);
  ASSERT_EQ(a_.requests().size(), 3u);
  EXPECT_EQ(a_.requests()[0].payload, "0");
  for (int i = 0; i < 3; ++i) a_.Answer(204);
  Settle(a_);
  const auto found = a_.Find("s");
  EXPECT_EQ(found->delivered, 3);
  EXPECT_EQ(found->last_status, 204);
  EXPECT_EQ(found->holder, "a");
  EXPECT_EQ(a_.Topic("orders").ready + a_.Topic("orders").claimed, 0);
}

TEST_P(PushContract, NoMoreThanMaxInFlightAreUnderWay) {
  PutCommand put = a_.Wish("s", "orders");
  put.max_in_flight = 2;
  a_.Change(put);
  a_.Enqueue("orders", 5);
  a_.deliverer().Start();
  Settle(a_);
  EXPECT_EQ(a_.requests().size(), 2u);
  for (int i = 0; i < 5; ++i) {
    a_.Answer(200);
    EXPECT_LE(a_.requests().size(), 2u);
  }
  Settle(a_);
  EXPECT_EQ(a_.Find("s")->delivered, 5);
}

TEST_P(PushContract, AFaultOfTheMessageIsAnAttemptAndOneOfTheEndpointIsNot) {
  a_.Put("s", "orders");
  a_.Enqueue("orders", 1);
  a_.deliverer().Start();
  Settle(a_);
  const base::Uuid id = a_.requests().at(0).id;
  const auto message = [&] {
    return *a_.Call(a_.messages(), &messages::Messages::Find, {"default", id}).message;
  };
  a_.Answer(500);
  EXPECT_EQ(message().attempts, 1);
  EXPECT_EQ(a_.Find("s")->circuit.failures, 0);
  clock().Advance(3'000);
  a_.Call(a_.messages(), &messages::Messages::PromoteSome);
  Settle(a_);
  ASSERT_EQ(a_.requests().size(), 1u);
  EXPECT_EQ(a_.requests()[0].id, id) << "the id is the same with each attempt";
  a_.Answer(503);
  EXPECT_EQ(message().attempts, 1);
  EXPECT_TRUE(a_.requests().empty()) << "nothing is begun while it backs off";
  Settle(a_);
  ASSERT_EQ(a_.requests().size(), 1u) << "and then it is tried again";
  EXPECT_EQ(a_.Find("s")->circuit.failures, 1);
  a_.Answer(200);
  Settle(a_);
  EXPECT_EQ(a_.Find("s")->circuit.failures, 0);
  EXPECT_EQ(a_.Find("s")->failed, 2);
}

TEST_P(PushContract, APauseHoldsTheWholeEndpointAndIsOnRecord) {
  a_.Put("s", "orders");
  a_.Enqueue("orders", 4);
  a_.deliverer().Start();
  Settle(a_);
  ASSERT_EQ(a_.requests().size(), 4u);
  a_.Answer(429, 60'000);
  for (int i = 0; i < 3; ++i) a_.Answer(429, 60'000);
  a_.Pass(30'000, 1'000);
  EXPECT_TRUE(a_.requests().empty());
  const auto held = a_.Find("s");
  EXPECT_EQ(StateText(*held, clock().WallMs()), "backing_off");
  EXPECT_EQ(held->circuit.failures, 0);
  EXPECT_EQ(a_.Topic("orders").ready, 4);
  a_.Pass(32'000, 1'000);
  EXPECT_EQ(a_.requests().size(), 4u);
}

TEST_P(PushContract, ACircuitOpensAfterTenFailuresAndAProbeClosesIt) {
  a_.Put("s", "orders");
  a_.Enqueue("orders", 30);
  a_.deliverer().Start();
  for (int failures = 0; failures < 10; ++failures) {
    for (int second = 0; second < 40 && a_.requests().empty(); ++second) a_.Pass(1'000, 500);
    ASSERT_FALSE(a_.requests().empty());
    while (!a_.requests().empty()) a_.Answer(502);
  }
  Settle(a_);
  EXPECT_EQ(StateText(*a_.Find("s"), clock().WallMs()), "open");
  const auto figures = a_.Call(a_.subscriptions(), &Subscriptions::Count);
  EXPECT_EQ(figures.open, 1);
  ASSERT_EQ(figures.open_ones.size(), 1u);
  EXPECT_EQ(figures.open_ones[0].name, "s");
  a_.Pass(30'000, 1'000);
  EXPECT_EQ(a_.requests().size(), 1u) << "the probe is one message";
  a_.Answer(200);
  Settle(a_);
  EXPECT_EQ(StateText(*a_.Find("s"), clock().WallMs()), "ok");
  EXPECT_EQ(a_.requests().size(), 16u);
}

TEST_P(PushContract, GoneDisablesUntilAPutSaysOtherwise) {
  a_.Put("s", "orders");
  a_.Enqueue("orders", 2);
  a_.deliverer().Start();
  Settle(a_);
  a_.Answer(410);
  a_.Answer(410);
  Settle(a_);
  EXPECT_EQ(StateText(*a_.Find("s"), clock().WallMs()), "disabled");
  EXPECT_GT(a_.Find("s")->gone_ms, 0);
  EXPECT_EQ(a_.Topic("orders").ready, 2);
  EXPECT_EQ(a_.Find("s")->holder, "") << "nobody holds its lease";
  a_.Put("s", "orders");
  Settle(a_);
  EXPECT_TRUE(a_.requests().empty()) << "the same PUT again does not open it";
  PutCommand open = a_.Wish("s", "orders");
  open.enabled = true;
  a_.Change(open);
  Settle(a_);
  EXPECT_EQ(a_.requests().size(), 2u);
  while (!a_.requests().empty()) a_.Answer(410);
  Settle(a_);
  PutCommand moved = a_.Wish("s", "orders");
  moved.url = "https://hooks.example.com/new";
  a_.Change(moved);
  Settle(a_);
  EXPECT_THAT(a_.requests(), testing::Not(testing::IsEmpty()));
  EXPECT_EQ(a_.requests().back().endpoint.url, moved.url);
}

TEST_P(PushContract, ADisabledOrDeletedOneLeavesItsMessagesReady) {
  a_.Put("s", "orders");
  a_.Enqueue("orders", 20);
  a_.deliverer().Start();
  Settle(a_);
  EXPECT_EQ(a_.requests().size(), 16u);
  a_.Change(RemoveCommand{{"default", "s"}});
  Settle(a_);
  while (!a_.requests().empty()) a_.Answer(200);
  Settle(a_);
  EXPECT_EQ(a_.Topic("orders").ready, 4);
  EXPECT_TRUE(a_.requests().empty());
}

TEST_P(PushContract, AChangeLeavesWhatIsUnderWayAlone) {
  a_.Put("s", "orders");
  a_.Enqueue("orders", 20);
  a_.deliverer().Start();
  Settle(a_);
  a_.Change(RotateCommand{{"default", "s"}});
  Settle(a_);
  EXPECT_EQ(a_.requests().size(), 16u);
  a_.Answer(200);
  EXPECT_EQ(a_.requests().back().endpoint.secrets.size(), 2u)
      << "what begins now is signed by both";
}

TEST_P(PushContract, GoneSaysNothingOfWhatWasChangedSince) {
  a_.Put("s", "orders");
  a_.Enqueue("orders", 1);
  a_.deliverer().Start();
  Settle(a_);
  ASSERT_EQ(a_.requests().size(), 1u);
  PutCommand moved = a_.Wish("s", "orders");
  moved.url = "https://hooks.example.com/new";
  // It is committed, and whoever delivers has not looked yet, when the old endpoint says 410.
  a_.Call(a_.subscriptions(), &Subscriptions::Change, Command(moved));
  a_.Answer(410);
  Settle(a_);
  EXPECT_EQ(a_.Find("s")->gone_ms, 0);
  ASSERT_EQ(a_.requests().size(), 1u);
  EXPECT_EQ(a_.requests()[0].endpoint.url, moved.url);
}

TEST_P(PushContract, WhatIsUnderWayIsCutOffWhenTheHoldIsOverThoughTheStoreIsSilent) {
  a_.Put("s", "orders");
  a_.Enqueue("orders", 4);
  a_.deliverer().Start();
  Settle(a_);
  a_.Change(RotateCommand{{"default", "s"}});
  Settle(a_);
  ASSERT_EQ(a_.requests().size(), 4u) << "begun before the change";
  // No lane runs from here on.
  clock().Advance(Deliverer::kTtlMs * 9 / 10 - 1);
  while (a_.wake().RunDue() > 0) {
  }
  clock().Advance(1);
  while (a_.wake().RunDue() > 0) {
  }
  EXPECT_TRUE(a_.requests().empty()) << "before anybody else can have the lease";
  Settle(a_);
  EXPECT_EQ(a_.requests().size(), 4u) << "and they are sent again";
  EXPECT_EQ(a_.Call(a_.messages(), &messages::Messages::Find, {"default", a_.requests()[0].id})
                .message->attempts,
            0);
}

TEST_P(PushContract, AnotherTopicIsAnotherFromItsPutOn) {
  PutCommand put = a_.Wish("s", "orders");
  put.max_in_flight = 1;
  a_.Change(put);
  a_.Enqueue("orders", 2);
  a_.deliverer().Start();
  Settle(a_);
  ASSERT_EQ(a_.requests().size(), 1u) << "another one is claimed and waits for its turn";
  put.topic = "invoices";
  a_.Change(put);
  Settle(a_);
  a_.Answer(200);
  Settle(a_);
  EXPECT_TRUE(a_.requests().empty());
  EXPECT_EQ(a_.Topic("orders").ready, 1);
  // A claim of the old topic may still wait: what it brings is not for this endpoint.
  a_.Enqueue("orders", 1);
  Settle(a_);
  EXPECT_TRUE(a_.requests().empty());
  EXPECT_EQ(a_.Topic("orders").ready, 2);
  a_.Enqueue("invoices", 1);
  Settle(a_);
  EXPECT_EQ(a_.requests().size(), 1u);
  a_.Put("t", "orders");
  Settle(a_);
  EXPECT_EQ(a_.requests().size(), 3u);
  EXPECT_EQ(a_.requests().back().endpoint.key.name, "t");
}

TEST_P(PushContract, AnotherUrlBeginsWithAClosedCircuitOnRecordToo) {
  a_.Put("s", "orders");
  a_.Enqueue("orders", 1);
  a_.deliverer().Start();
  Settle(a_);
  a_.Answer(502);
  PutCommand moved = a_.Wish("s", "orders");
  moved.url = "https://hooks.example.com/new";
  // The report of the failure comes after the change.
  a_.Call(a_.subscriptions(), &Subscriptions::Change, Command(moved));
  Settle(a_);
  EXPECT_EQ(a_.Find("s")->circuit.failures, 0);
  EXPECT_EQ(a_.Find("s")->last_status, 502);
}

TEST_P(PushContract, ATwoHundredBesideAPauseDoesNotEndThePause) {
  a_.Put("s", "orders");
  a_.Enqueue("orders", 4);
  a_.deliverer().Start();
  Settle(a_);
  ASSERT_EQ(a_.requests().size(), 4u);
  a_.Answer(429, 60'000);
  a_.Answer(200);
  a_.Pass(30'000, 1'000);
  EXPECT_EQ(a_.requests().size(), 2u) << "those that were under way, and no more";
}

TEST_P(PushContract, AKeyOnTopSealsAnewAndTheOldOneMayGo) {
  const std::string secret = a_.Put("s", "orders").secret;
  PutCommand other = a_.Wish("t", "invoices");
  other.headers = HeaderValues{{"Authorization", "Bearer x"}};
  a_.Change(other);
  const std::string of_new = TestProcess::KeyLine('n');
  const Vault both = Vault::Parse(of_new + TestProcess::KeyLine('k'));
  const auto list = [&](const Vault& vault) {
    return a_.Call(a_.subscriptions(), &Subscriptions::ListSealed, {.prefix = vault.Prefix()}).rows;
  };
  EXPECT_TRUE(list(a_.vault()).empty());
  ASSERT_EQ(list(both).size(), 2u);
  Subscriptions anew(a_.store(), a_.wake(), &both);
  for (const SubscriptionKey& key : list(both))
    EXPECT_EQ(a_.Call(anew, &Subscriptions::Change, Command(ResealCommand{key})).kind,
              ChangeKind::kUnchanged);
  EXPECT_TRUE(list(both).empty());
  const Vault only = Vault::Parse(of_new);
  const auto s = a_.Find("s");
  const auto t = a_.Find("t");
  EXPECT_EQ(OpenSecrets(only, s->id, s->secrets, 0).at(0).text, secret);
  EXPECT_EQ(OpenHeaders(only, t->id, t->headers), other.headers);
  EXPECT_EQ(s->revision, 1) << "nothing has changed for anybody";
  EXPECT_EQ(a_.Change(ResealCommand{{"default", "s"}}).kind, ChangeKind::kSealed)
      << "the old key alone cannot";
  EXPECT_EQ(a_.Change(RotateCommand{{"default", "s"}}).kind, ChangeKind::kSealed)
      << "the secrets that are to go on signing would be lost";
}

class PushEnsemble : public PushContract {
 protected:
  TestProcess b_{store_, "b"};
};
INSTANTIATE_TEST_SUITE_P(Stores, PushEnsemble, testing::Values(EngineKind::kPostgres),
                         store::EngineName);

TEST_P(PushEnsemble, OneOfTwoDeliversAndTheOtherTakesOverWithinTenSeconds) {
  a_.Put("s", "orders");
  a_.Enqueue("orders", 4);
  a_.deliverer().Start();
  Settle(a_);
  b_.deliverer().Start();
  b_.Drive();
  for (int second = 0; second < 20; ++second) {
    a_.Pass(500, 500);
    b_.Drive();
  }
  EXPECT_EQ(a_.requests().size(), 4u);
  EXPECT_TRUE(b_.requests().empty());
  // `a` is paused from here on. The reaper is the other process's.
  for (int step = 0; step < 20 && b_.requests().empty(); ++step) {
    b_.Pass(500, 500);
    b_.Call(b_.messages(), &messages::Messages::ReapSome, {true});
    b_.Drive();
  }
  EXPECT_EQ(b_.requests().size(), 4u) << "claims and lease were handed on within 10 s";
  for (const auto& request : a_.requests())
    EXPECT_FALSE(request.may_begin()) << "who has lost it begins nothing";
  // `a` goes on: it finds out, cuts off what it had, and its word on the messages counts no more.
  a_.Drive();
  EXPECT_TRUE(a_.requests().empty());
  while (!b_.requests().empty()) b_.Answer(200);
  for (int second = 0; second < 6; ++second) {
    a_.Pass(500, 500);
    b_.Drive();
  }
  EXPECT_TRUE(a_.requests().empty());
  EXPECT_EQ(b_.Find("s")->delivered, 4);
  EXPECT_EQ(b_.Find("s")->holder, "b");
}

TEST_P(PushEnsemble, ALateAnswerOfWhoWasPausedChangesNothing) {
  a_.Put("s", "orders");
  a_.Enqueue("orders", 1);
  a_.deliverer().Start();
  Settle(a_);
  ASSERT_EQ(a_.requests().size(), 1u);
  b_.deliverer().Start();
  for (int step = 0; step < 24 && b_.requests().empty(); ++step) {
    b_.Pass(500, 500);
    b_.Call(b_.messages(), &messages::Messages::ReapSome, {true});
    b_.Drive();
  }
  ASSERT_EQ(b_.requests().size(), 1u);
  a_.Answer(200);  // it was sent before the pause, and the receiver had it
  EXPECT_EQ(b_.Topic("orders").claimed, 1) << "the message is in other hands: M2";
  b_.Answer(200);
  EXPECT_EQ(b_.Topic("orders").claimed, 0);
}

TEST_P(PushEnsemble, TwoWhoPutOneTopicAtOnceDoNotBothGetIt) {
  const auto answers = std::make_shared<std::vector<ChangeKind>>();
  for (TestProcess* process : {&a_, &b_}) {
    const std::string name = process == &a_ ? "s" : "t";
    process->subscriptions().Change(
        process->Wish(name, "orders"), nullptr,
        [answers](const db::Result<Outcome>& result) { answers->push_back(result.value().kind); });
  }
  a_.Drive();
  b_.Drive();
  EXPECT_THAT(*answers, testing::ElementsAre(ChangeKind::kCreated, ChangeKind::kTopicTaken));
}

TEST_P(PushEnsemble, WhatOneCannotOpenIsLeftToTheOther) {
  TestProcess newer(store_, "newer",
                    {.keys = TestProcess::KeyLine('n') + TestProcess::KeyLine('k')});
  a_.Put("s", "orders");
  a_.Enqueue("orders", 1);
  a_.deliverer().Start();
  Settle(a_);
  ASSERT_EQ(a_.requests().size(), 1u);
  newer.Change(RotateCommand{{"default", "s"}});
  newer.deliverer().Start();
  Settle(a_);
  a_.Answer(500);
  for (int second = 0; second < 20; ++second) {
    newer.Pass(500, 500);
    a_.Drive();
    a_.Call(a_.messages(), &messages::Messages::PromoteSome);
  }
  EXPECT_TRUE(a_.requests().empty());
  ASSERT_EQ(newer.requests().size(), 1u);
  EXPECT_EQ(newer.requests()[0].endpoint.secrets.size(), 2u);
  EXPECT_EQ(a_.Find("s")->holder, "newer");
}

class PushShares : public PushContract {
 protected:
  TestProcess small_{store_, "small", {.most_under_way = 4}};
};
INSTANTIATE_TEST_SUITE_P(Stores, PushShares, testing::Values(EngineKind::kPostgres),
                         store::EngineName);

TEST_P(PushShares, AnEndpointThatHangsLeavesTheOthersTheirPlaces) {
  small_.Put("hangs", "orders");
  small_.Put("well", "invoices");
  small_.Enqueue("orders", 20);
  small_.deliverer().Start();
  Settle(small_);
  EXPECT_EQ(small_.requests().size(), 2u) << "half of all";
  small_.Enqueue("invoices", 3);
  Settle(small_);
  ASSERT_EQ(small_.requests().size(), 3u);
  for (int i = 0; i < 3; ++i) {
    http::OutgoingReply reply;
    reply.status = 200;
    EXPECT_EQ(small_.requests().at(2).endpoint.key.name, "well");
    EXPECT_EQ(small_.requests().at(2).endpoint.has_answered, i > 0) << "those go first";
    small_.Answer(2, reply);
  }
  Settle(small_);
  EXPECT_EQ(small_.Find("well")->delivered, 3);
  EXPECT_EQ(small_.requests().size(), 2u);
}

}  // namespace
}  // namespace tenure::push
