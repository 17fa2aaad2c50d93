// Messages over HTTP: in, out, and what their workers say of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;
using testing::HasSubstr;

class Messages : public testing::TestWithParam<Engine> {
 protected:
  /// What an answer says of each of its messages, as text.
  static std::vector<std::string> Ids(const HttpResponse& claim) {
    std::vector<std::string> ids;
    for (const Json& message : claim.Json()["messages"].Elements())
      ids.push_back(message["id"].Text());
    return ids;
  }

  Api api_{SharedServer(GetParam())};
  Topic topic_{api_};
};

TEST_P(Messages, AMessageComesOutAsItWentInAndIsGoneWhenAcknowledged) {
  const HttpResponse sent =
      topic_.Enqueue(R"(,"correlation_id":"order-7","headers":{"a":[1]},"priority":3)");
  EXPECT_EQ(sent.status, 201) << sent.body;
  const Json message = topic_.Claim().Json()["messages"][0];
  EXPECT_EQ(message["id"].Text(), sent.Json()["id"].Text());
  EXPECT_EQ(message["topic"].Text(), topic_.name());
  EXPECT_EQ(message["payload"].Dump(), R"({"n":1})");
  EXPECT_EQ(message["correlation_id"].Text(), "order-7");
  EXPECT_EQ(message["headers"].Dump(), R"({"a":[1]})");
  EXPECT_EQ(message["priority"].Int(), 3);
  EXPECT_EQ(message["attempt"].Int(), 1);
  EXPECT_EQ(message["crashes"].Int(), 0);
  const Claimed claimed{message["id"].Text(), message["fence"].Int()};
  EXPECT_EQ(OutcomeOf(topic_.Report("ack", claimed)), "done");
  EXPECT_EQ(OutcomeOf(topic_.Report("ack", claimed)), "gone");
  EXPECT_EQ(api_.Get("/api/v1/messages/" + claimed.id).status, 404);
}

TEST_P(Messages, APayloadIsKeptByteForByte) {
  for (const std::string& payload :
       {std::string("null"), std::string("1.50e1"), std::string(R"("\u0000\ud83d\ude00}")"),
        std::string(R"({ "b" : 1,  "a":[ ] , "b":"]\"" })"), std::string("[]"),
        std::string("18446744073709551615")}) {
    const std::string body =
        R"({"topic":")" + topic_.name() + R"(", "payload" : )" + payload + " }";
    EXPECT_EQ(api_.Call("POST", "/api/v1/messages", body).status, 201) << body;
    const HttpResponse claim = topic_.Claim();
    EXPECT_THAT(claim.body, HasSubstr(R"("payload":)" + payload + ",")) << claim.body;
  }
  const std::string list = R"({"messages":[{"payload":1.0,"topic":")" + topic_.name() +
                           R"("} , {"topic":")" + topic_.name() + R"(","payload":[2.00]}]})";
  EXPECT_EQ(api_.Call("POST", "/api/v1/messages", list).status, 201);
  EXPECT_THAT(topic_.Claim().body,
              testing::AllOf(HasSubstr(R"("payload":1.0,)"), HasSubstr(R"("payload":[2.00],)")));
}

TEST_P(Messages, BytesComeBackAsBytes) {
  const std::string body = R"({"topic":")" + topic_.name() + R"(","payload_base64":"AP8Q"})";
  EXPECT_EQ(api_.Call("POST", "/api/v1/messages", body).status, 201);
  const Json message = topic_.Claim().Json()["messages"][0];
  EXPECT_EQ(message["payload_base64"].Text(), "AP8Q");
  EXPECT_FALSE(message.Has("payload"));
}

TEST_P(Messages, AListIsAnsweredAsAListAndComesOutByPriorityThenInItsOrder) {
  const HttpResponse sent =
      api_.Call("POST", "/api/v1/messages",
                R"({"messages":[)" + topic_.Message() + "," + topic_.Message(R"(,"priority":9)") +
                    "," + topic_.Message(R"(,"priority":0)") + "," + topic_.Message() + "]}");
  ASSERT_EQ(sent.status, 201) << sent.body;
  const Json ids = sent.Json()["ids"];
  EXPECT_EQ(Ids(topic_.Claim()),
            (std::vector<std::string>{ids[2].Text(), ids[0].Text(), ids[3].Text(), ids[1].Text()}));
  const HttpResponse one =
      api_.Call("POST", "/api/v1/messages", R"({"messages":[)" + topic_.Message() + "]}");
  EXPECT_EQ(one.Json()["ids"].Size(), 1U) << "a list of one is a list";
}

TEST_P(Messages, ADedupKeyGivesTheEarlierIdAndEnqueuesNothing) {
  const std::string id = topic_.Send(R"(,"dedup_key":"k")");
  const HttpResponse again = topic_.Enqueue(R"(,"dedup_key":"k")");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.Json().Dump(), R"({"id":")" + id + R"(","duplicate":true})");
  const HttpResponse mixed = api_.Call("POST", "/api/v1/messages",
                                       R"({"messages":[)" + topic_.Message(R"(,"dedup_key":"k")") +
                                           "," + topic_.Message(R"(,"dedup_key":"l")") + "]}");
  EXPECT_EQ(mixed.status, 201) << "one of them is new";
  EXPECT_EQ(mixed.Json()["duplicates"].Dump(), R"([")" + id + R"("])");
  EXPECT_EQ(topic_.Claim().Json()["messages"].Size(), 2U);
}

TEST_P(Messages, TheSameClaimIdGivesTheSameMessagesAndFences) {
  topic_.Send();
  topic_.Send();
  const std::string claim = R"(,"claim_id":")" + NewUuid() + "\"";
  const HttpResponse first = topic_.Claim(claim);
  EXPECT_EQ(first.Json()["messages"].Size(), 2U);
  EXPECT_EQ(topic_.Claim(claim).body, first.body);
  EXPECT_EQ(topic_.Claim().Json()["messages"].Size(), 0U);
}

TEST_P(Messages, AFailureIsTriedAgainAndItsErrorIsTold) {
  topic_.Send();
  const Claimed first = topic_.Take();
  EXPECT_EQ(OutcomeOf(topic_.Report("abandon", first, R"(,"error":"no luck","retry_after_ms":0)")),
            "done");
  Eventually("it is ready", [&] { return topic_.Look(first.id)["state"].Text() == "ready"; });
  EXPECT_EQ(topic_.Look(first.id)["last_error"].Text(), "no luck");
  const Json again = topic_.Claim().Json()["messages"][0];
  EXPECT_EQ(again["attempt"].Int(), 2);
  EXPECT_GT(again["fence"].Int(), first.fence);
  EXPECT_EQ(OutcomeOf(topic_.Report("ack", first)), "stale") << "M2: it has another owner";
  EXPECT_EQ(OutcomeOf(topic_.Report("extend", first)), "stale");
  EXPECT_EQ(OutcomeOf(topic_.Report("fail", first)), "stale");
}

TEST_P(Messages, WhatWasNotBegunIsReadyAtOnceAndNothingIsCounted) {
  topic_.Send();
  const Claimed claimed = topic_.Take();
  EXPECT_EQ(OutcomeOf(topic_.Report("abandon", claimed, R"(,"started":false)")), "done");
  const Json again = topic_.Claim().Json()["messages"][0];
  EXPECT_EQ(again["attempt"].Int(), 1);
}

TEST_P(Messages, OneReportMayHaveBothKindsAndEachIsAnswered) {
  topic_.Send();
  topic_.Send();
  const Json both = topic_.Claim().Json()["messages"];
  const Claimed one{both[0]["id"].Text(), both[0]["fence"].Int()};
  const Claimed two{both[1]["id"].Text(), both[1]["fence"].Int()};
  const Claimed unknown{NewUuid(), 1};
  const HttpResponse reported =
      api_.Call("POST", "/api/v1/messages/abandon",
                R"({"claims":[)" + one.Json() + "," + unknown.Json(R"(,"started":false)") + "," +
                    two.Json(R"(,"started":false)") + "]}");
  EXPECT_EQ(reported.Json().Dump(), R"({"done":[")" + one.id + R"(",")" + two.id +
                                        R"("],"stale":[],"gone":[")" + unknown.id + R"("]})");
  EXPECT_EQ(topic_.Look(one.id)["attempts"].Int(), 1);
  EXPECT_EQ(topic_.Look(two.id)["attempts"].Int(), 0);
}

TEST(MessagesLocked, AReportThatIsCarriedOutInHalfDoesNotSayThatNothingHappened) {
  const Api api(SharedServer(Engine::kPostgres));
  SqlSession user(SharedStore(Engine::kPostgres).url());
  for (const bool begun_first : {true, false}) {
    for (const bool begun_is_locked : {true, false}) {
      const Topic topic(api);
      topic.Send();
      topic.Send();
      const Json both = topic.Claim().Json()["messages"];
      const Claimed begun{both[0]["id"].Text(), both[0]["fence"].Int()};
      const Claimed untouched{both[1]["id"].Text(), both[1]["fence"].Int()};
      const std::string other = untouched.Json(R"(,"started":false)");
      const std::string body = R"({"claims":[)" + (begun_first ? begun.Json() : other) + "," +
                               (begun_first ? other : begun.Json()) + "]}";
      const Claimed& locked = begun_is_locked ? begun : untouched;
      const Claimed& free = begun_is_locked ? untouched : begun;
      user.Execute("begin");
      user.Execute("select 1 from tenure.messages where id = '" + locked.id + "' for update");
      const HttpResponse half = api.Call("POST", "/api/v1/messages/abandon", body);
      EXPECT_EQ(half.status, 503) << half.body;
      const bool is_done = topic.Look(free.id)["state"].Text() != "claimed";
      EXPECT_EQ(ProblemType(half), is_done ? "outcome-unknown" : "contended") << half.body;
      user.Execute("rollback");
      EXPECT_EQ(topic.Look(locked.id)["state"].Text(), "claimed");
      EXPECT_EQ(api.Call("POST", "/api/v1/messages/abandon", body).status, 200);
      EXPECT_NE(topic.Look(locked.id)["state"].Text(), "claimed");
    }
  }
}

TEST_P(Messages, AnExtensionMovesTheDeadline) {
  topic_.Send();
  const Claimed claimed = topic_.Take(R"(,"lease_ms":5000)");
  const auto until = [&] { return TimeMs(topic_.Look(claimed.id)["lease_expires_at"].Text()); };
  const std::int64_t before = until();
  const HttpResponse extended = api_.Call(
      "POST", "/api/v1/messages/extend", R"({"lease_ms":60000,"claims":[)" + claimed.Json() + "]}");
  EXPECT_EQ(OutcomeOf(extended.Json()), "done");
  EXPECT_GT(until(), before + 30'000);
}

TEST_P(Messages, WhySaysWhatAMessageWaitsFor) {
  const std::string id = topic_.Send();
  EXPECT_THAT(topic_.Look(id)["why"].Text(), HasSubstr("nobody has ever asked"));
  topic_.Take();
  EXPECT_THAT(topic_.Look(id)["why"].Text(), HasSubstr("test has it since"));
  const std::string later = topic_.Send(R"(,"due_at":"2099-01-01T00:00:00+01:00")");
  EXPECT_EQ(topic_.Look(later)["due_at"].Text(), "2098-12-31T23:00:00.000Z");
  EXPECT_EQ(topic_.Look(later)["state"].Text(), "waiting");
  EXPECT_EQ(api_.Get("/api/v1/messages/" + NewUuid()).status, 404);
}

TEST_P(Messages, ATopicThatKeepsWhatIsFinishedShowsItsOutput) {
  EXPECT_EQ(topic_.Change(R"({"retention_ms":3600000})").status, 200);
  topic_.Send();
  const Claimed claimed = topic_.Take();
  topic_.Report("ack", claimed, R"(,"output":{"rows": 3})");
  const Json seen = topic_.Look(claimed.id);
  EXPECT_EQ(seen["state"].Text(), "done");
  EXPECT_EQ(seen["output"]["rows"].Int(), 3);
}

TEST_P(Messages, ATopicIsPausedAndResumed) {
  topic_.Send();
  const Json paused = topic_.Change(R"({"paused":true,"reason":"the bank is closed"})").Json();
  EXPECT_TRUE(paused["paused"].Bool());
  EXPECT_EQ(paused["paused_reason"].Text(), "the bank is closed");
  const Json nothing = topic_.Claim().Json();
  EXPECT_EQ(nothing["messages"].Size(), 0U);
  EXPECT_EQ(nothing["paused"][0].Text(), topic_.name());
  const std::string id = topic_.Send();
  EXPECT_THAT(topic_.Look(id)["why"].Text(), HasSubstr("the bank is closed"));
  WaitingClaim waiting(topic_);
  AwaitWaiting(api_, 1);
  EXPECT_FALSE(topic_.Change(R"({"paused":false})").Json()["paused"].Bool());
  const Json resumed = waiting.Answer().Json();
  EXPECT_EQ(resumed["messages"].Size(), 2U);
  EXPECT_FALSE(resumed.Has("paused"));
}

TEST_P(Messages, ATopicsSettingsAreSetAndResetByNull) {
  EXPECT_EQ(api_.Get(topic_.Path()).status, 404) << "nothing was ever sent to it";
  const Json set = topic_.Change(R"({"max_attempts":1,"lease_ms":5000})").Json();
  EXPECT_EQ(set["settings"]["max_attempts"].Int(), 1);
  EXPECT_EQ(set["settings"]["lease_ms"].Int(), 5'000);
  const Json reset = topic_.Change(R"({"lease_ms":null})").Json();
  EXPECT_EQ(reset["settings"]["max_attempts"].Int(), 1) << "not named, not changed";
  EXPECT_EQ(reset["settings"]["lease_ms"].Int(), 30'000);
  const Json listed = api_.Get("/api/v1/topics?limit=1").Json();
  EXPECT_EQ(listed["items"].Size(), 1U);
}

TEST_P(Messages, DeadLettersAreListedRedrivenAndDiscarded) {
  topic_.Change(R"({"max_attempts":1})");
  const std::string one = topic_.Send();
  const std::string two = topic_.Send();
  const Json claimed = topic_.Claim().Json()["messages"];
  topic_.Report("abandon", {one, claimed[0]["fence"].Int()}, R"(,"error":"spent")");
  topic_.Report("fail", {two, claimed[1]["fence"].Int()}, R"(,"error":"hopeless")");
  const auto list = [&](const std::string& more) {
    return api_.Get("/api/v1/dead-letters?topic=test%2F" + topic_.name().substr(5) + more)
        .Json()["items"];
  };
  ASSERT_EQ(list("").Size(), 2U);
  EXPECT_EQ(list("&reason=attempts")[0]["last_error"].Text(), "spent");
  EXPECT_EQ(list("&reason=failed")[0]["id"].Text(), two);
  EXPECT_THAT(topic_.Look(two)["why"].Text(), HasSubstr("hopeless"));
  EXPECT_EQ(list("&order=desc")[0]["id"].Text(), list("")[1]["id"].Text());
  EXPECT_EQ(api_.Get("/api/v1/dead-letters?order=new").status, 400);
  const Json letter = api_.Get("/api/v1/dead-letters/" + two).Json();
  EXPECT_EQ(letter["state"].Text(), "dead");
  EXPECT_EQ(letter["payload"]["n"].Int(), 1);
  EXPECT_EQ(api_.Get("/api/v1/dead-letters/x").status, 400);

  const auto post = [&](const std::string& action, const std::string& body) {
    return api_.Call("POST", "/api/v1/dead-letters/" + action, body).Json();
  };
  const std::string of_topic = R"({"topic":")" + topic_.name() + "\"";
  EXPECT_EQ(post("redrive", of_topic + R"(,"dry_run":true})")["found"].Int(), 2);
  EXPECT_EQ(list("").Size(), 2U) << "it only said which";
  EXPECT_EQ(post("redrive", R"({"ids":[")" + one + R"("]})")["redriven"].Int(), 1);
  const Json again = topic_.Claim().Json()["messages"][0];
  EXPECT_EQ(again["id"].Text(), one);
  EXPECT_EQ(again["attempt"].Int(), 1) << "its attempts are forgotten";
  EXPECT_EQ(post("discard", of_topic + "}")["discarded"].Int(), 1);
  EXPECT_EQ(list("").Size(), 0U);
  EXPECT_EQ(api_.Get("/api/v1/messages/" + two).status, 404);
  EXPECT_EQ(api_.Get("/api/v1/dead-letters/" + one).status, 404) << "it lives again";
}

TEST_P(Messages, AreListedTopicByTopicAndTimersByTheirTime) {
  const std::string of_topic = "?topic=test%2F" + topic_.name().substr(5);
  const auto list = [&](const std::string& path, const std::string& more = "") {
    return api_.Get("/api/v1/" + path + of_topic + more).Json();
  };
  const std::string timer = topic_.SetTimer(3'600'000);
  EXPECT_EQ(list("messages")["items"].Size(), 0U);
  EXPECT_EQ(list("timers")["items"][0]["id"].Text(), timer);
  EXPECT_EQ(list("messages", "&state=waiting")["items"][0]["id"].Text(), timer);
  const std::string one = topic_.Send();
  const std::string two = topic_.Send();
  topic_.Take(R"(,"max":1)");
  const Json page = list("messages", "&limit=1");
  EXPECT_EQ(page["items"][0]["state"].Text(), "claimed");
  EXPECT_EQ(page["items"][0]["owner"].Text(), "test");
  EXPECT_EQ(list("messages", "&cursor=" + page["next_cursor"].Text())["items"][0]["id"].Text(),
            two);
  EXPECT_EQ(list("messages", "&state=claimed")["items"][0]["id"].Text(), one);
  EXPECT_EQ(api_.Get("/api/v1/messages").status, 400) << "which topic?";
  EXPECT_EQ(api_.Get("/api/v1/messages" + of_topic + "&state=dead").status, 400);
  EXPECT_EQ(api_.Get("/api/v1/timers?cursor=10-4711").status, 400) << "of another list";
}

TEST_P(Messages, ATimerFiresOnceAndCannotBeCancelledAfterwards) {
  const std::string id = topic_.SetTimer(50);
  WaitingClaim waiting(topic_);
  EXPECT_EQ(waiting.Answer().Json()["messages"][0]["id"].Text(), id);
  EXPECT_TRUE(api_.Get("/api/v1/timers/" + id).Json()["fired"].Bool());
  const HttpResponse late = api_.Call("DELETE", "/api/v1/timers/" + id);
  EXPECT_EQ(late.status, 409);
  EXPECT_EQ(ProblemType(late), "timer-fired");
}

TEST_P(Messages, ACancelledTimerNeverFires) {
  const std::string id = topic_.SetTimer(3'600'000);
  EXPECT_FALSE(api_.Get("/api/v1/timers/" + id).Json()["fired"].Bool());
  EXPECT_EQ(api_.Call("DELETE", "/api/v1/timers/" + id).status, 204);
  EXPECT_EQ(api_.Call("DELETE", "/api/v1/timers/" + id).status, 404);
  EXPECT_EQ(api_.Get("/api/v1/timers/" + id).status, 404);
}

INSTANTIATE_TEST_SUITE_P(Engines, Messages, EachEngine(), EngineName);

}  // namespace
}  // namespace tenure::api
