// The audit: every act of an operator leaves exactly one entry, and what changed nothing leaves
// none. Every route is held to it, by going through the router.
#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/calls.hpp"
#include "api/guarded.hpp"
#include "api/sample_requests.hpp"
#include "api/store_under_test.hpp"
#include "support/http_receiver.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

class Audit : public testing::TestWithParam<Engine> {
 protected:
  void Serve(const std::string& endpoint = "") {
    server_.reset();
    server_.emplace([&](config::Settings& settings) {
      if (GetParam() == Engine::kSqlite)
        settings.data = store_.data_dir() / "data";
      else
        settings.store.url = store_.url();
      settings.usage.endpoint = endpoint;
    });
    api_.emplace(server_->As({.tenant = tenant_}));
  }
  void SetUp() override { Serve(); }

  const Api& api() const { return *api_; }
  Json Entries(const std::string& query = "") const {
    return api().Get("/api/v1/audit?limit=1000" + query).Json()["items"];
  }
  /// The one entry that `act` leaves.
  template <class Act>
  Json EntryOf(Act act, const std::string& what) const {
    const std::size_t before = Entries().Size();
    act();
    const Json entries = Entries();
    EXPECT_EQ(entries.Size(), before + 1) << what;
    return entries[0];
  }
  template <class Act>
  void ExpectNone(Act act, const std::string& what) const {
    const std::size_t before = Entries().Size();
    act();
    EXPECT_EQ(Entries().Size(), before) << what;
  }

  /// A task of this tenant that is not due.
  std::string Task() const {
    const std::string path = "/api/v1/tasks/" + NewUuid();
    const Json lock =
        api()
            .Call("POST", path + "/claim",
                  R"({"term":")" + NewUuid() +
                      R"(","holder":"me","interval_ms":3600000,"lock_timeout_ms":60000})")
            .Json()["lock"];
    api().Call("POST", path + "/finish", GrantJson(lock));
    return path;
  }
  /// A dead letter of that topic.
  static void Bury(const Topic& topic) {
    topic.Send();
    topic.Report("fail", topic.Take(), R"(,"error":"hopeless")");
  }
  HttpResponse Post(const std::string& path, const std::string& body,
                    const support::HttpHeaders& headers = {}) const {
    return api().Call("POST", path, body, headers);
  }
  /// `body` is an object.
  static std::string WithReason(const std::string& body) {
    const std::string rest = body.substr(1);
    return std::string(R"({"reason":"a test")") + (rest == "}" ? "" : ",") + rest;
  }
  static std::string OfTopic(const Topic& topic, const std::string& more = "") {
    return R"({"topic":")" + topic.name() + "\"" + more + "}";
  }
  /// Another tenant's session, and the key under which this one would like it.
  std::pair<std::string, Key> ForeignSession() const {
    Key key = NewKey();
    const std::string id =
        server_->As({.tenant = key.tenant}).Put(key, 1).Json()["sessionId"].Text();
    key.tenant = tenant_;
    return {id, key};
  }

  const StoreUnderTest store_{GetParam()};
  const std::string tenant_ = NewUuid();
  std::optional<GuardedServer> server_;
  std::optional<Api> api_;
};

INSTANTIATE_TEST_SUITE_P(Engines, Audit, EachEngine(), EngineName);

TEST_P(Audit, EveryRouteOfAnOperatorLeavesExactlyOneEntry) {
  // Windows of a time without a receiver (they begin with the first session), then one that refuses
  // its first record.
  api().Delete(api().Put({NewUuid(), tenant_, NewUuid()}, 1).Json()["sessionId"].Text());
  Eventually("a window is closed",
             [&] { return api().Get("/usage/windows").Json()["items"].Size() > 0; });
  support::HttpReceiver receiver;
  Serve(receiver.Url() + "/usages");
  api().Put({NewUuid(), tenant_, NewUuid()}, 1);
  // On a slow machine a request has several records, which are then told apart by further ones.
  std::jthread refuses([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      receiver.Next();
      receiver.Answer(422);
    }
  });
  Eventually("a record is refused",
             [&] { return api().Get("/usage/refused").Json()["items"].Size() > 0; });
  refuses.request_stop();
  refuses.join();

  const Topic topic(api());
  // What is made for it leaves entries, too: it is made before.
  const SampleRequests samples(api(), tenant_);
  // With a reason where its kind of request has it: in the body, or in the query of what has none of
  // its own.
  const auto prepared = [&](const std::string& method, const std::string& path) {
    SampleRequests::Request request = samples.RequestOf(method, path);
    if (method == "DELETE" || method == "PUT")
      request.target += (request.target.find('?') == std::string::npos ? "?reason=" : "&reason=") +
                        std::string("a%20test");
    else if (request.body.find(R"("reason")") == std::string::npos)
      request.body = WithReason(request.body);
    return [this, method, request] {
      return api().Call(method, request.target, request.body, request.headers).status;
    };
  };
  const std::map<std::string, std::function<int()>> ways{
      {"putSession", [&] { return api().Put(ForeignSession().second, 1).status; }},
      {"deleteSession",
       [&] { return api().Delete(ForeignSession().first + "?reason=a%20test").status; }},
      {"breakLease",
       [&] {
         Lease lease(api());
         lease.Acquire();
         return lease.Break().status;
       }},
      {"runTask", [&] { return Post(Task() + "/run", WithReason("{}")).status; }},
      {"changeTopic", [&] { return topic.Change(R"({"paused":true,"reason":"a test"})").status; }},
      {"redriveDeadLetters",
       [&] {
         const Topic other(api());
         Bury(other);
         return Post("/api/v1/dead-letters/redrive",
                     OfTopic(other, R"(,"reason":"failed","because":"a test")"))
             .status;
       }},
      {"discardDeadLetters",
       [&] {
         const Topic other(api());
         Bury(other);
         return Post("/api/v1/dead-letters/discard", OfTopic(other, R"(,"because":"a test")"))
             .status;
       }},
      {"setUsageFactor",
       [&] {
         return Post("/usage/factors", WithReason(R"({"sessionKind":2,"factor":"2.5"})")).status;
       }},
      {"sendUsage", [&] { return Post("/usage/send", WithReason(R"({"fromWindow":1})")).status; }},
      {"resendRefusedUsage",
       [&] { return Post("/usage/refused/resend", WithReason("{}")).status; }},
      {"cancelTimer", prepared("DELETE", "/api/v1/timers/{id}")},
      {"putJob", prepared("PUT", "/api/v1/jobs/{name}")},
      {"deleteJob", prepared("DELETE", "/api/v1/jobs/{name}")},
      {"triggerJob", prepared("POST", "/api/v1/jobs/{name}/trigger")},
      {"backfillJob", prepared("POST", "/api/v1/jobs/{name}/backfill")},
      {"pauseJob", prepared("POST", "/api/v1/jobs/{name}/pause")},
      {"resumeJob", prepared("POST", "/api/v1/jobs/{name}/resume")},
      {"createOrganization", prepared("POST", "/api/v1/organizations")},
      {"changeOrganization", prepared("PATCH", "/api/v1/organizations/{id}")},
      {"createLicense", prepared("POST", "/api/v1/licenses")},
      {"changeLicense", prepared("PATCH", "/api/v1/licenses/{id}")},
      {"revokeLicense", prepared("POST", "/api/v1/licenses/{id}/revoke")},
      {"rotateLicenseKey", prepared("POST", "/api/v1/licenses/{id}/rotate-key")},
      {"revokeSeat", prepared("POST", "/api/v1/licenses/sessions/{id}/revoke")},
      {"putSubscription", prepared("PUT", "/api/v1/subscriptions/{name}")},
      {"deleteSubscription", prepared("DELETE", "/api/v1/subscriptions/{name}")},
      {"testSubscription", prepared("POST", "/api/v1/subscriptions/{name}/test")},
      {"rotateSubscriptionSecret", prepared("POST", "/api/v1/subscriptions/{name}/rotate")},
      {"pauseQueue",
       [&] {
         return api()
             .Call("PATCH", "/api/v1/queues/o", R"({"paused":true,"reason":"a test"})")
             .status;
       }},
      {"dropQueue", prepared("DELETE", "/api/v1/queues/{queue}")},
      {"resumeSession", prepared("POST", "/api/v1/queues/{queue}/sessions/{id}/resume")},
      {"skipMessage", prepared("POST", "/api/v1/queues/{queue}/sessions/{id}/skip")},
      {"breakSession", prepared("POST", "/api/v1/queues/{queue}/sessions/{id}/break")},
      {"discardMessages", prepared("POST", "/api/v1/queues/{queue}/sessions/{id}/discard")},
      {"resumeSessions", prepared("POST", "/api/v1/queues/{queue}/resume")},
      {"replayQueueLetters", prepared("POST", "/api/v1/queues/{queue}/dead-letters/replay")},
      {"discardQueueLetters", prepared("POST", "/api/v1/queues/{queue}/dead-letters/discard")},
      {"replaySession", prepared("POST", "/api/v1/queues/{queue}/replay")},
      {"replayEvents", prepared("POST", "/api/v1/webhooks/replay")},
      {"putBots", prepared("PUT", "/api/v1/bots")},
      {"retireSeatLedger",
       [&] {
         const std::string use = "seat_ledger set identity = 'a Redis'";
         if (GetParam() == Engine::kSqlite)
           ExecuteSqlite(store_.data_dir() / "data" / "tenure.db", "update " + use);
         else
           store_.Execute("update tenure." + use);
         return Post("/api/v1/seat-ledger/retire", WithReason("{}")).status;
       }},
      {"removeSeatTicket", prepared("DELETE", "/api/v1/licenses/{id}/tickets/{ticket}")},
  };
  for (const http::Route& route : server_->routes()) {
    if (route.scope == http::kSigned) continue;  // whoever signs is no operator: webhook_test.cpp
    if (route.acts.empty()) {
      EXPECT_FALSE(route.method != http::Method::kGet && route.scope == "admin")
          << route.operation << " changes something as an operator, and has no act";
      continue;
    }
    const auto way = ways.find(route.operation);
    ASSERT_NE(way, ways.end()) << route.operation << ": how is it performed?";
    const Json entry =
        EntryOf([&] { EXPECT_LT(way->second(), route.operation == "putSession" ? 410 : 300); },
                route.operation);
    EXPECT_THAT(route.acts, Contains(entry["act"].Text())) << route.operation;
    EXPECT_EQ(entry["tenant"].Text(), tenant_);
    EXPECT_EQ(entry["person"].Text(), "ada");
    EXPECT_EQ(entry["address"].Text(), "127.0.0.1");
    EXPECT_NE(entry["request_id"].Text(), "");
    EXPECT_NE(entry["object"].Text(), "") << route.operation;
    // What was refused and is put on record for that has none.
    if (route.operation != "putSession") {
      EXPECT_EQ(entry["detail"]["reason"].Text(), "a test") << route.operation;
    }
  }
}

TEST_P(Audit, WhatChangedNothingLeavesNoEntry) {
  Lease lease(api());
  lease.Acquire();
  lease.Break();
  ExpectNone([&] { lease.Break(); }, "it is broken like this already");
  ExpectNone([&] { Lease(api()).Break(); }, "an unknown lease");
  const std::string task = Task();
  Post(task + "/run", "{}");
  ExpectNone([&] { Post(task + "/run", "{}"); }, "it is due already");
  ExpectNone([&] { Post("/api/v1/tasks/none/run", "{}"); }, "an unknown task");
  const Topic topic(api());
  Bury(topic);
  ExpectNone([&] { Post("/api/v1/dead-letters/redrive", OfTopic(topic, R"(,"dry_run":true)")); },
             "a dry run");
  ExpectNone([&] { Post("/api/v1/dead-letters/discard", OfTopic(Topic(api()))); }, "no letters");
  ExpectNone([&] { topic.Change("{}"); }, "no setting");
  ExpectNone([&] { topic.Change(R"({"paused":false,"max_attempts":20})"); }, "as it was");
  ExpectNone([&] { Post("/usage/factors", R"({"sessionKind":1,"factor":"1"})"); }, "as it was");
  const Key key{NewUuid(), tenant_, NewUuid()};
  const std::string own = api().Put(key, 1).Json()["sessionId"].Text();
  ExpectNone([&] { api().Delete(own); }, "one's own session");
  const std::string foreign = ForeignSession().first;
  api().Delete(foreign);
  ExpectNone([&] { api().Delete(foreign); }, "it has ended");
}

TEST_P(Audit, ARepeatedRequestLeavesNoSecondEntry) {
  const support::HttpHeaders key{{"Idempotency-Key", NewUuid()}};
  Lease lease(api());
  lease.Acquire();
  const auto once = [&](const auto& act, const char* what) {
    EntryOf(act, what);
    ExpectNone(act, what);
  };
  once([&] { lease.Break("", key); }, "break");
  const std::string task = Task();
  once([&] { Post(task + "/run", "{}", key); }, "run");
  const Topic topic(api());
  Bury(topic);
  once([&] { Post("/api/v1/dead-letters/redrive", OfTopic(topic), key); }, "redrive");
  once([&] { api().Call("PATCH", topic.Path(), R"({"max_attempts":7})", key); }, "change");
  const std::string body = PutBody(ForeignSession().second, 1);
  once([&] { EXPECT_EQ(api().Call("PUT", "/sessions", body, key).status, 409); }, "foreign");
}

TEST_P(Audit, TheDetailSaysWhyAndHowAndWhatWasThereBefore) {
  Lease lease(api());
  lease.Acquire({.holder = "worker-7"});
  const Json broken = EntryOf([&] { lease.Break(R"(,"force":true)"); }, "break");
  EXPECT_EQ(broken["object"].Text(), lease.name());
  EXPECT_EQ(broken["detail"]["reason"].Text(), "a test");
  EXPECT_EQ(broken["detail"]["holder"].Text(), "worker-7");
  EXPECT_TRUE(broken["detail"]["force"].Bool());

  const Topic topic(api());
  const Json paused =
      EntryOf([&] { topic.Change(R"({"paused":true,"reason":"closed","max_attempts":5})"); }, "");
  EXPECT_EQ(paused["act"].Text(), "topic.pause");
  EXPECT_EQ(paused["detail"].Dump(),
            R"({"reason":"closed","old":{"max_attempts":20,"paused":false,"reason":""},)"
            R"("new":{"max_attempts":5,"paused":true,"reason":"closed"}})");
  const Json resumed = EntryOf([&] { topic.Change(R"({"paused":false})"); }, "resume");
  EXPECT_EQ(resumed["act"].Text(), "topic.resume");
  const Json changed = EntryOf([&] { topic.Change(R"({"max_attempts":null})"); }, "change");
  EXPECT_EQ(changed["act"].Text(), "topic.change");
  EXPECT_EQ(changed["detail"].Dump(), R"({"old":{"max_attempts":5},"new":{"max_attempts":20}})");

  const Json factor =
      EntryOf([&] { Post("/usage/factors", R"({"sessionKind":3,"factor":"3.5"})"); }, "factor");
  EXPECT_EQ(factor["object"].Text(), "3");
  EXPECT_THAT(factor["detail"].Dump(), HasSubstr(R"("new":"3.5)"));

  const auto [id, key] = ForeignSession();
  const Json ended = EntryOf([&, &session = id] { api().Delete(session); }, "end");
  EXPECT_EQ(ended["object"].Text(), id);
  EXPECT_NE(ended["detail"]["tenant"].Text(), tenant_) << "whose it was";
}

TEST_P(Audit, RefusalsOfOneAskerAreSummedUp) {
  const auto [id, key] = ForeignSession();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(api().Put(key, 1).status, 409);
  const std::string mine = "&act=session.foreign&tenant=" + tenant_;
  ASSERT_EQ(Entries(mine).Size(), 1U) << "the others are told when their minute is over";
  EXPECT_EQ(Entries(mine)[0]["object"].Text(), key.user);
  Serve();  // or when the server stops
  const Json entries = Entries(mine);
  ASSERT_EQ(entries.Size(), 2U);
  EXPECT_EQ(entries[0]["detail"]["times"].Int(), 49);
}

TEST_P(Audit, ItIsListedByPagesAndByFilters) {
  const std::string begun = TimeText(WallMs());
  for (int i = 0; i < 3; ++i) {
    Lease lease(api());
    lease.Acquire();
    lease.Break();
  }
  std::vector<std::string> objects;
  std::string cursor;
  do {
    const Json page = api().Get("/api/v1/audit?act=lease.break&person=ada&limit=2" + cursor).Json();
    for (const Json& entry : page["items"].Elements()) objects.push_back(entry["object"].Text());
    cursor = page["next_cursor"].IsNull() ? "" : "&cursor=" + page["next_cursor"].Text();
  } while (!cursor.empty());
  EXPECT_EQ(objects.size(), 3U);
  EXPECT_EQ(Entries("&from=" + begun + "&act=lease.break").Size(), 3U);
  EXPECT_EQ(Entries("&to=" + begun + "&act=lease.break").Size(), 0U);
  EXPECT_EQ(Entries("&tenant=" + NewUuid()).Size(), 0U);
  EXPECT_EQ(Entries("&person=bob").Size(), 0U);
  for (const char* bad : {"from=yesterday", "to=1", "cursor=x", "limit=0", "what=x"})
    EXPECT_EQ(api().Get(std::string("/api/v1/audit?") + bad).status, 400) << bad;
}

TEST_P(Audit, AServersFirstStartIsOnRecord) {
  const Json entries = Entries("&act=store.migrate");
  ASSERT_EQ(entries.Size(), 1U);
  EXPECT_EQ(entries[0]["tenant"].Text(), "");
  EXPECT_NE(entries[0]["person"].Text(), "");
  EXPECT_THAT(entries[0]["detail"]["migrations"].Dump(), HasSubstr("0009_audit"));
  Serve();
  EXPECT_EQ(Entries("&act=store.migrate").Size(), 1U) << "nothing was migrated";
}

class AuditCommand : public testing::TestWithParam<Engine> {
 protected:
  ProgramResult OnStore(std::vector<std::string> arguments) {
    const auto flags = store_.Flags();
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    ProgramResult ran = RunTenure(std::move(arguments));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran;
  }
  static ProgramResult List(const support::ServerProcess& server,
                            std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"audit", "list", "--server", server.Url()});
    return RunTenure(std::move(flags));
  }

  const StoreUnderTest store_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Engines, AuditCommand, EachEngine(), EngineName);

TEST_P(AuditCommand, CommandsOnTheStoreAreOnRecord) {
  OnStore({"migrate"});
  OnStore({"migrate"});
  const support::TempDir folder;
  const std::string file = folder.path() / "tenure.yaml";
  std::ofstream(file) << "sessions: {duration: 60d}\n";
  OnStore({"config", "apply", file});
  OnStore({"config", "apply", file});
  OnStore({"admin", "new-incarnation"});
  const auto server = store_.Serve({"--set", "sessions.duration=60d"});
  const ProgramResult listed = List(*server, {"--json", "--all"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  const Json items = Json::Parse(listed.out)["items"];
  std::vector<std::string> acts;
  for (const Json& entry : items.Elements()) acts.push_back(entry["act"].Text());
  EXPECT_THAT(acts, testing::ElementsAre("store.new_incarnation", "config.apply", "store.migrate"))
      << "each once: what changed nothing is not there";
  EXPECT_THAT(items[1]["detail"].Dump(), HasSubstr(R"("sessions.duration":{)"));
  EXPECT_THAT(items[1]["detail"].Dump(), HasSubstr(R"("new":"60d")"));
}

TEST_P(AuditCommand, TheListIsATableForPeople) {
  const auto server = store_.Serve();
  const Api api(*server);
  Lease lease(api, "nightly");
  lease.Acquire();
  lease.Break();
  const ProgramResult table = List(*server, {"--act", "lease.break"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("TIME"), HasSubstr("lease.break"), HasSubstr("nightly"),
                               HasSubstr(R"("reason":"a test")")));
  EXPECT_THAT(List(*server, {"--object", "other"}).out, testing::Not(HasSubstr("nightly")));
  const ProgramResult wrong = List(*server, {"--from", "yesterday"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--from"));
  EXPECT_EQ(Metric(api, R"(tenure_audit_entries_total{act="lease.break"})"), 1);
}

TEST_P(AuditCommand, TheRetentionIsATaskOfTheServers) {
  const auto server = store_.Serve({"--set", "audit.retention=100ms"});
  const Api api(*server);
  Eventually("what was done at the start is forgotten",
             [&] { return api.Get("/api/v1/audit").Json()["items"].Size() == 0; });
}

}  // namespace
}  // namespace tenure::api
