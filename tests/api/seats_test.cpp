// Licence seats over HTTP, on real servers.
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "support/http_receiver.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;

constexpr const char* kLicenses = "/api/v1/licenses";

std::string Quoted(const std::string& text) { return '"' + text + '"'; }

/// A licence that no other test has.
class License {
 public:
  explicit License(const Api& api, int seats = 1, const std::string& more = "") : api_(api) {
    const HttpResponse made =
        api_.Call("POST", kLicenses, R"({"seats":)" + std::to_string(seats) + more + "}");
    EXPECT_EQ(made.status, 201) << made.body;
    id_ = made.Json()["id"].Text();
    key_ = made.Json()["license_key"].Text();
  }
  const std::string& id() const { return id_; }
  const std::string& key() const { return key_; }
  std::string Path(const std::string& more = "") const {
    return std::string(kLicenses) + "/" + id_ + more;
  }
  /// Machines of one name differ from licence to licence: a server counts what each of them asks.
  std::string Body(const std::string& machine, const std::string& more = "") const {
    return R"({"license_key":)" + Quoted(key_) + R"(,"machine_id":)" + Quoted(machine + '@' + id_) +
           more + "}";
  }
  HttpResponse Acquire(const std::string& machine, const std::string& more = "") const {
    return api_.Call("POST", std::string(kLicenses) + "/acquire", Body(machine, more));
  }
  HttpResponse Heartbeat(const std::string& session) const {
    return api_.Call("PATCH", SessionPath(session) + "/heartbeat");
  }
  HttpResponse Release(const std::string& session) const {
    return api_.Call("DELETE", SessionPath(session));
  }
  HttpResponse Change(const std::string& body) const { return api_.Call("PATCH", Path(), body); }
  static std::string SessionPath(const std::string& session) {
    return std::string(kLicenses) + "/sessions/" + session;
  }

 private:
  Api api_;
  std::string id_;
  std::string key_;
};

std::string SessionOf(const HttpResponse& granted) { return granted.Json()["session_id"].Text(); }

class SeatsOverHttp : public testing::TestWithParam<Engine> {
 protected:
  Api api_{SharedServer(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(Engines, SeatsOverHttp, EachEngine(), EngineName);

TEST_P(SeatsOverHttp, ACompleteSessionLifecycle) {
  const License license(api_, 3);
  const HttpResponse granted = license.Acquire(
      "mac-1", R"(,"user_agent":"CODITECT/1.0","ip_address":"192.168.1.1","metadata":{"os":"x"})");
  ASSERT_EQ(granted.status, 201) << granted.body;
  const Json grant = granted.Json();
  EXPECT_EQ(grant["license_key"].Text(), license.key());
  EXPECT_EQ(grant["seats_used"].Int(), 1);
  EXPECT_EQ(grant["seats_remaining"].Int(), 2);
  EXPECT_EQ(grant["heartbeat_interval_seconds"].Int(), 180);
  const std::string session = SessionOf(granted);
  const HttpResponse beat = license.Heartbeat(session);
  EXPECT_EQ(beat.status, 200) << beat.body;
  EXPECT_EQ(beat.Json()["status"].Text(), "active");
  const Json seen = api_.Get(License::SessionPath(session)).Json();
  EXPECT_EQ(seen["ip_address"].Text(), "127.0.0.1") << "where the request came from";
  EXPECT_EQ(seen["metadata"]["os"].Text(), "x");
  EXPECT_EQ(license.Release(session).status, 204);
  const HttpResponse again = license.Release(session);
  EXPECT_EQ(again.status, 404);
  EXPECT_EQ(again.Json()["error"].Text(), "Session not found");
  EXPECT_EQ(api_.Get(license.Path()).Json()["seats_used"].Int(), 0);
  EXPECT_EQ(license.Heartbeat(session).Json()["reason"].Text(), "released");
  const Json ended = api_.Get(License::SessionPath(session)).Json();
  EXPECT_EQ(ended["state"].Text(), "ended");
  for (const char* number : {"slot", "fence"})
    EXPECT_EQ(ended[number].Int(), seen[number].Int()) << number;
  for (const char* text : {"ip_address", "started_at", "machine_id"})
    EXPECT_EQ(ended[text].Text(), seen[text].Text()) << text;
}

TEST_P(SeatsOverHttp, K1_TenThreadsAndThreeSeats) {
  const License license(api_, 3);
  std::vector<HttpResponse> answers(10);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < answers.size(); ++i)
    threads.emplace_back([&, i] { answers[i] = license.Acquire("m" + std::to_string(i)); });
  for (std::thread& thread : threads) thread.join();
  int granted = 0;
  for (const HttpResponse& answer : answers) {
    if (answer.status == 201) {
      ++granted;
      continue;
    }
    EXPECT_EQ(answer.status, 403);
    EXPECT_EQ(ProblemType(answer), "seats-in-use");
    const Json body = answer.Json();
    EXPECT_EQ(body["error"].Text(), "All license seats are currently in use");
    EXPECT_EQ(body["seats_available"].Int(), 0);
    EXPECT_EQ(body["seats_total"].Int(), 3);
    EXPECT_EQ(body["reason"].Text(), "full");
    EXPECT_GT(body["retry_after_seconds"].Int(), 0);
    EXPECT_TRUE(answer.FindHeader("Retry-After"));
  }
  EXPECT_EQ(granted, 3);
}

TEST_P(SeatsOverHttp, K2_TheSameMachineAgainGetsItsOwnSeat) {
  const License license(api_, 1);
  const std::string first = SessionOf(license.Acquire("m"));
  const HttpResponse again = license.Acquire("m");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(again.Json()["seats_used"].Int(), 1);
  const HttpResponse lost = license.Heartbeat(first);
  EXPECT_EQ(lost.status, 410);
  EXPECT_EQ(ProblemType(lost), "seat-lost");
  EXPECT_EQ(lost.Json()["reason"].Text(), "resumed_elsewhere");
}

TEST_P(SeatsOverHttp, AnExpiredSessionIsToldSoWithTheTime) {
  const License license(api_, 1, R"(,"ttl_seconds":2)");
  const std::string first = SessionOf(license.Acquire("m1"));
  int tries = 0;
  Eventually("the seat has lapsed",
             [&] { return license.Acquire("n" + std::to_string(++tries)).status == 201; });
  const HttpResponse lost = license.Heartbeat(first);
  EXPECT_EQ(lost.status, 410);
  EXPECT_EQ(lost.Json()["error"].Text(), "Session has expired");
  EXPECT_EQ(lost.Json()["reason"].Text(), "expired");
  EXPECT_NE(lost.Json()["ended_at"].Text(), "");
  const Json log = api_.Get(license.Path("/log?kind=LICENSE_SEAT_EXPIRED")).Json()["items"];
  ASSERT_EQ(log.Size(), 1U);
  EXPECT_EQ(log[0]["at"].Text(), lost.Json()["ended_at"].Text());
}

TEST_P(SeatsOverHttp, AnUnknownSuspendedRevokedExpiredOrFutureLicenseIsToldApart) {
  EXPECT_EQ(api_.Call("POST", "/api/v1/licenses/acquire",
                      R"({"license_key":"nobody-has-it","machine_id":"m"})")
                .status,
            404);
  const License suspended(api_);
  suspended.Change(R"({"suspended":true})");
  const HttpResponse refused = suspended.Acquire("m");
  EXPECT_EQ(refused.status, 404);
  EXPECT_EQ(refused.Json()["error"].Text(), "License not found or inactive");
  EXPECT_EQ(refused.Json()["reason"].Text(), "suspended");
  EXPECT_THAT(refused.Json()["detail"].Text(), testing::StartsWith("The licence is suspended"));
  suspended.Change(R"({"suspended":false})");
  EXPECT_EQ(suspended.Acquire("m").status, 201);
  const License revoked(api_);
  EXPECT_EQ(api_.Call("POST", revoked.Path("/revoke"), "{}").status, 200);
  EXPECT_EQ(revoked.Acquire("m").Json()["reason"].Text(), "revoked");
  EXPECT_EQ(ProblemType(revoked.Change(R"({"seats":2})")), "license-revoked");
  const License expired(api_, 1, R"(,"valid_until":"2025-11-01T00:00:00Z")");
  const HttpResponse over = expired.Acquire("m");
  EXPECT_EQ(over.status, 403);
  EXPECT_EQ(ProblemType(over), "license-expired");
  EXPECT_EQ(over.Json()["expired_at"].Text(), "2025-11-01T00:00:00.000Z");
  const License future(api_, 1, R"(,"valid_from":"2100-01-01T00:00:00Z")");
  EXPECT_EQ(future.Acquire("m").Json()["reason"].Text(), "not_yet_valid");
}

TEST_P(SeatsOverHttp, ManyHeartbeatsInOneCallAndOneOfThemLost) {
  const License license(api_, 3);
  const std::string first = SessionOf(license.Acquire("m1"));
  const std::string second = SessionOf(license.Acquire("m2"));
  license.Release(second);
  const Json told = api_.Call("POST", "/api/v1/licenses/heartbeats",
                              R"({"session_ids":[)" + Quoted(first) + "," + Quoted(second) + "," +
                                  Quoted(NewUuid()) + "]}")
                        .Json();
  ASSERT_EQ(told["alive"].Size(), 1U);
  EXPECT_EQ(told["alive"][0]["session_id"].Text(), first);
  ASSERT_EQ(told["lost"].Size(), 2U);
  EXPECT_EQ(told["lost"][0]["reason"].Text(), "released");
  EXPECT_EQ(told["lost"][1]["reason"].Text(), "unknown");
}

TEST_P(SeatsOverHttp, AWaitingRequestGetsTheSeatThatIsReleased) {
  const License license(api_, 1);
  const std::string session = SessionOf(license.Acquire("m1"));
  WaitingCall waiting(api_, "/api/v1/licenses/acquire",
                      license.Body("m2", R"(,"wait_seconds":30)"));
  Eventually("it stands in line",
             [&] { return api_.Get(license.Path()).Json()["waiting"].Int() == 1; });
  license.Release(session);
  EXPECT_EQ(waiting.Answer().status, 201);
}

TEST_P(SeatsOverHttp, AfterTheWaitThereIsATicket) {
  const License license(api_, 1);
  const std::string session = SessionOf(license.Acquire("m1"));
  const HttpResponse waited = license.Acquire("m2", R"(,"wait_seconds":1)");
  ASSERT_EQ(waited.status, 202) << waited.body;
  const std::string ticket = std::string(kLicenses) + "/tickets/" + waited.Json()["ticket"].Text();
  EXPECT_EQ(api_.Get(ticket).Json()["position"].Int(), 1);
  const HttpResponse denied = license.Acquire("m2");
  EXPECT_EQ(denied.status, 403);
  EXPECT_EQ(denied.Json()["position"].Int(), 1);
  EXPECT_EQ(api_.Get(license.Path("/tickets")).Json()["items"].Size(), 1U);
  license.Release(session);
  const Json offered = api_.Get(ticket + "?wait_seconds=10").Json();
  EXPECT_EQ(offered["state"].Text(), "offered");
  EXPECT_EQ(offered["position"].Int(), 0);
  EXPECT_EQ(license.Acquire("m3").status, 403) << "nobody overtakes";
  EXPECT_EQ(license.Acquire("m2").status, 201);
  EXPECT_EQ(api_.Get(ticket).status, 404);
}

TEST_P(SeatsOverHttp, ARevisionKeepsTwoOperatorsApart) {
  const License license(api_, 1);
  const auto change = [&](const std::string& revision) {
    return api_.Call("PATCH", license.Path(), R"({"seats":2})", {{"If-Match", revision}});
  };
  EXPECT_EQ(change("\"1\"").Json()["revision"].Int(), 2);
  EXPECT_EQ(ProblemType(change("1")), "license-changed");
  EXPECT_EQ(change("x").status, 400);
}

TEST_P(SeatsOverHttp, WhatIsWrongIsNamed) {
  const License license(api_);
  const std::string long_metadata = R"(,"metadata":{"a":)" + LongText(1 << 20) + "}";
  EXPECT_EQ(FieldsOf(license.Acquire("m", long_metadata)), Fields{"metadata"});
  for (const char* control : {"\\u0007", "\\u007f", "\\u0080", "\\u0085", "\\u009f"})
    EXPECT_EQ(FieldsOf(license.Acquire(std::string("a") + control + "b")), Fields{"machine_id"});
  const HttpResponse blank = license.Acquire("a\\u00a0b");
  EXPECT_EQ(blank.status, 201) << "a blank is no control character: " << blank.body;
  license.Release(SessionOf(blank));
  EXPECT_EQ(FieldsOf(license.Acquire("m", R"(,"wait_seconds":31)")), Fields{"wait_seconds"});
  EXPECT_EQ(FieldsOf(license.Acquire("m", R"(,"nonsense":1)")), Fields{"nonsense"});
  EXPECT_EQ(FieldsOf(api_.Call("POST", kLicenses,
                               R"({"seats":0,"ttl_seconds":4,"heartbeat_interval_seconds":3})")),
            (Fields{"seats", "heartbeat_interval_seconds"}));
  EXPECT_EQ(license.Acquire("m", R"(,"user_agent":)" + LongText(600)).status, 201) << "it is cut";
}

TEST_P(SeatsOverHttp, AKeyOfOnesOwnIsTakenOnceAndRotated) {
  const std::string key = "OWN-" + NewUuid();
  const std::string more = R"(,"license_key":)" + Quoted(key);
  const License license(api_, 2, more);
  EXPECT_EQ(license.key(), key);
  const HttpResponse taken = api_.Call("POST", kLicenses, R"({"seats":1)" + more + "}");
  EXPECT_EQ(taken.status, 409);
  EXPECT_EQ(ProblemType(taken), "license-key-taken");
  const HttpResponse rotated =
      api_.Call("POST", license.Path("/rotate-key"), R"({"overlap_seconds":0})");
  ASSERT_EQ(rotated.status, 200) << rotated.body;
  EXPECT_EQ(license.Acquire("m1").status, 404) << "the old key is over";
  EXPECT_EQ(api_.Call("POST", "/api/v1/licenses/acquire",
                      R"({"license_key":)" + Quoted(rotated.Json()["license_key"].Text()) +
                          R"(,"machine_id":"m1"})")
                .status,
            201);
}

TEST_P(SeatsOverHttp, AnOperatorEndsASession) {
  const License license(api_, 1);
  const std::string session = SessionOf(license.Acquire("m1"));
  const std::string revoke = License::SessionPath(session) + "/revoke";
  EXPECT_EQ(api_.Call("POST", revoke, R"({"reason":"stolen"})").Json()["state"].Text(), "revoked");
  EXPECT_EQ(license.Heartbeat(session).Json()["reason"].Text(), "revoked");
  EXPECT_EQ(license.Acquire("m1").Json()["reason"].Text(), "revoked");
  EXPECT_EQ(license.Acquire("m2").status, 403) << "until its deadline";
  EXPECT_EQ(api_.Call("POST", revoke, R"({"force":true})").status, 200);
  EXPECT_EQ(license.Acquire("m2").status, 201);
}

/// A server of its own, for what others must not disturb.
class SeatsAlone : public testing::TestWithParam<Engine> {
 protected:
  const StoreUnderTest store_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Engines, SeatsAlone, EachEngine(), EngineName);

TEST_P(SeatsAlone, TooManyRequestsOfOneMachineOneSeatOrForGuessedKeysAreRefused) {
  const auto server = store_.Serve();
  const Api api(*server);
  const License license(api, 5);
  std::string session;
  for (int i = 0; i < 10; ++i) session = SessionOf(license.Acquire("m1"));
  const HttpResponse often = license.Acquire("m1");
  EXPECT_EQ(often.status, 429);
  EXPECT_TRUE(often.FindHeader("RateLimit-Limit"));
  EXPECT_EQ(license.Acquire("m2").status, 201) << "another machine";
  for (int i = 0; i < 20; ++i) EXPECT_EQ(license.Heartbeat(session).status, 200);
  EXPECT_EQ(license.Heartbeat(session).status, 429);
  const auto guess = [&](int i) {
    return api.Call("POST", "/api/v1/licenses/acquire",
                    R"({"license_key":"guess-)" + std::to_string(i) + R"(","machine_id":"g)" +
                        std::to_string(i) + "\"}");
  };
  for (int i = 0; i < 10; ++i) EXPECT_EQ(guess(i).status, 404) << i;
  EXPECT_EQ(guess(10).status, 429);
  EXPECT_EQ(license.Acquire("m3").status, 429) << "a guesser's good key, too";
}

std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_P(SeatsAlone, AKeyIsNeitherInTheStoreNorInLogsErrorsMetricsTracesOrKeptAnswers) {
  support::HttpReceiver collector;
  const auto server = store_.Serve({"--set", "log.level=debug", "--set",
                                    "telemetry.traces_endpoint=" + collector.Url() + "/v1/traces"});
  const Api api(*server);
  const std::string body = R"({"seats":1})";
  const support::HttpHeaders traced{
      {"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}};
  support::HttpHeaders once = traced;
  once.emplace_back("Idempotency-Key", NewUuid());
  const Json made = api.Call("POST", kLicenses, body, once).Json();
  const std::string key = made["license_key"].Text();
  const HttpResponse again = api.Call("POST", kLicenses, body, once);
  EXPECT_EQ(again.status, 201);
  EXPECT_EQ(again.Json()["id"].Text(), made["id"].Text());
  EXPECT_TRUE(again.Json()["license_key"].IsNull());
  const auto ask = [&](const std::string& of, const std::string& more) {
    return R"({"license_key":)" + Quoted(of) + R"(,"machine_id":)" + more + "}";
  };
  const std::string acquire = "/api/v1/licenses/acquire";
  const HttpResponse first = api.Call("POST", acquire, ask(key, R"("m")"), once);
  EXPECT_EQ(first.status, 201);
  const Json repeated = api.Call("POST", acquire, ask(key, R"("m")"), once).Json();
  EXPECT_EQ(repeated["session_id"].Text(), first.Json()["session_id"].Text());
  EXPECT_EQ(repeated["license_key"].Text(), key);
  EXPECT_LE(repeated["remaining_ms"].Int(), first.Json()["remaining_ms"].Int());
  const std::string license = std::string(kLicenses) + "/" + made["id"].Text();
  // Refusals of every kind, and what operators do.
  for (const HttpResponse& refused :
       {api.Call("POST", acquire, ask(key, R"("m2")"), traced),
        api.Call("POST", acquire, ask(key, "7"), traced),
        api.Call("POST", acquire, ask(key + "X", R"("m")"), traced),
        api.Call("POST", acquire, ask(key, R"("m","wait_seconds":1)") + "}", traced),
        api.Call("POST", acquire, ask(key, R"("m2")"), once),
        api.Call("POST", kLicenses, R"({"seats":1,"license_key":)" + Quoted(key) + "}", traced),
        api.Call("POST", kLicenses, R"({"seats":0,"license_key":)" + Quoted(key) + "}", traced)}) {
    EXPECT_GE(refused.status, 400);
    EXPECT_EQ(refused.body.find(key), std::string::npos) << refused.body;
  }
  const std::string other =
      api.Call("POST", license + "/rotate-key", "{}", once).Json()["license_key"].Text();
  ASSERT_FALSE(other.empty());
  std::string traces;
  // What was granted, and the key that nobody has.
  while (traces.find("granted") == std::string::npos ||
         traces.find("not_found") == std::string::npos) {
    traces += collector.Next().body;
    collector.Answer(200);
  }
  const auto expect_nowhere = [&](const std::string& text, const std::string& where) {
    EXPECT_EQ(text.find(key), std::string::npos) << where;
    EXPECT_EQ(text.find(other), std::string::npos) << where;
  };
  expect_nowhere(traces, "traces");
  expect_nowhere(server->Output(), "log");
  const auto expect_not_told = [&](const std::string& path) {
    const HttpResponse told = api.Get(path);
    EXPECT_EQ(told.status, 200) << path;
    expect_nowhere(told.body, path);
  };
  for (const char* path : {"/metrics", "/api/v1/audit", "/health", "/api/v1/licenses",
                           "/api/v1/organizations", "/api/v1/overview", "/api/v1/settings"})
    expect_not_told(path);
  expect_not_told("/api/v1/why/license/" + made["id"].Text());
  for (const char* path : {"", "/log", "/sessions", "/tickets"}) expect_not_told(license + path);
  if (GetParam() == Engine::kSqlite) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(store_.data_dir()))
      if (entry.is_regular_file()) expect_nowhere(ReadAll(entry.path()), entry.path().string());
    return;
  }
  std::istringstream tables(
      store_.Execute("select string_agg(table_name, ' ') from information_schema.tables "
                     "where table_schema = 'tenure'"));
  int seen = 0;
  for (std::string table; tables >> table; ++seen)
    for (const std::string& each : {key, other})
      EXPECT_EQ(
          store_.Execute("select count(*) from tenure." + table + " t where t::text like '%" +
                         each + "%' or t::text like '%' || encode('" + each + "', 'hex') || '%'"),
          "0")
          << table << ", in words or in bytes";
  EXPECT_GT(seen, 20);
}

TEST_P(SeatsAlone, WithoutARedisNoQueryOfItsHeartbeatsRuns) {
  const auto server = store_.Serve();
  const Api api(*server);
  const License license(api, 1);
  const std::string session = SessionOf(license.Acquire("m1"));
  EXPECT_EQ(license.Heartbeat(session).status, 200);
  EXPECT_EQ(license.Acquire("m2").status, 403);
  EXPECT_EQ(api.Get("/health").body.find("seat_ledger"), std::string::npos);
  const std::string text = api.Get("/metrics").body;
  const auto runs = [&](const std::string& query) {
    const std::string line = "tenure_store_query_seconds_count{query=\"seats." + query + "\"} ";
    const std::size_t at = text.find(line);
    return at == std::string::npos ? 0 : std::stoi(text.substr(at + line.size()));
  };
  EXPECT_GT(runs("renew_seats"), 0);
  for (const char* query :
       {"adopt_seats", "lock_dead", "lock_seat_ledger", "longest_promise", "note_redis_use",
        "raise_redis_epoch", "read_promises", "find_candidates", "read_revisions", "find_kept"})
    EXPECT_EQ(runs(query), 0) << query;
}

TEST_P(SeatsAlone, ASeatOutlivesTheServerThatGaveIt) {
  auto server = store_.Serve();
  std::string session;
  std::string key;
  {
    const License license(Api(*server), 1);
    session = SessionOf(license.Acquire("m1"));
    key = license.key();
  }
  server.reset();
  server = store_.Serve();
  const Api api(*server);
  EXPECT_EQ(api.Call("PATCH", License::SessionPath(session) + "/heartbeat").status, 200);
  EXPECT_EQ(api.Call("POST", "/api/v1/licenses/acquire",
                     R"({"license_key":)" + Quoted(key) + R"(,"machine_id":"m2"})")
                .status,
            403);
}

TEST_P(SeatsOverHttp, AnOrganisationHasOneSpellingAndIsNeverNobody) {
  const std::string id = NewUuid();
  std::string loud = id;
  std::ranges::transform(loud, loud.begin(),
                         [](char c) { return static_cast<char>(std::toupper(c)); });
  const std::string organizations = "/api/v1/organizations";
  const std::string made = R"({"id":")" + loud + R"(","name":"Acme"})";
  EXPECT_EQ(api_.Call("POST", organizations, made).Json()["id"].Text(), id);
  EXPECT_EQ(api_.Get(organizations + "/" + loud).Json()["id"].Text(), id);
  EXPECT_EQ(api_.Call("PATCH", organizations + "/" + loud, R"({"name":"Acme 2"})").status, 200);
  const License license(api_, 1, R"(,"organization":")" + loud + "\"");
  for (const std::string& spelling : {id, loud}) {
    const Json found =
        api_.Get(std::string(kLicenses) + "?organization=" + spelling).Json()["items"];
    ASSERT_EQ(found.Size(), 1U) << spelling;
    EXPECT_EQ(found[0]["id"].Text(), license.id());
  }
  for (const char* nobody : {"00000000-0000-0000-0000-000000000000", R"(a\u001bb)"}) {
    const std::string text = Quoted(nobody);
    EXPECT_EQ(api_.Call("POST", organizations, R"({"name":"x","id":)" + text + "}").status, 400);
    EXPECT_EQ(api_.Call("POST", kLicenses, R"({"seats":1,"organization":)" + text + "}").status,
              400);
  }
}

/// Several servers on one store.
class SeatsOverServers : public testing::Test {
 protected:
  const StoreUnderTest store_{Engine::kPostgres};
  const std::array<std::unique_ptr<support::ServerProcess>, 3> servers_{
      store_.Serve(), store_.Serve(), store_.Serve()};
};

TEST_F(SeatsOverServers, K1_TenThreadsAndThreeSeats) {
  const License license(Api{*servers_[0]}, 3);
  std::vector<int> statuses(10);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < statuses.size(); ++i)
    threads.emplace_back([&, i] {
      statuses[i] =
          Api(*servers_[i % 3])
              .Call("POST", "/api/v1/licenses/acquire", license.Body("m" + std::to_string(i)))
              .status;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::ranges::count(statuses, 201), 3);
  EXPECT_EQ(std::ranges::count(statuses, 403), 7);
}

TEST_F(SeatsOverServers, WhoIsFirstInLineGetsTheSeatThoughTheServerThatOfferedItDiesAtOnce) {
  const License license(Api{*servers_[0]}, 1);
  const std::string session = SessionOf(license.Acquire("m1"));
  const Api waits(*servers_[1]);
  WaitingCall waiting(waits, "/api/v1/licenses/acquire",
                      license.Body("m2", R"(,"wait_seconds":30)"));
  Eventually("it stands in line",
             [&] { return waits.Get(license.Path()).Json()["waiting"].Int() == 1; });
  EXPECT_EQ(Api(*servers_[2]).Call("DELETE", License::SessionPath(session)).status, 204);
  servers_[2]->Kill();
  EXPECT_EQ(waits.Call("POST", "/api/v1/licenses/acquire", license.Body("m3")).status, 403)
      << "nobody overtakes";
  EXPECT_EQ(waiting.Answer().status, 201);
}

}  // namespace
}  // namespace tenure::api
