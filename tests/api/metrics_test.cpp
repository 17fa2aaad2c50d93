// Every metric that operators are told of is raised by some test: here, on a real server, or by one
// that is named. And an idle server has few lines, with names that meet nobody else's.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "api/calls.hpp"
#include "api/store_under_test.hpp"
#include "support/process.hpp"
#include "telemetry/names.hpp"

namespace tenure::api {
namespace {

/// What the acts below raise. A histogram is raised when it has counted something.
const std::set<std::string> kRaisedHere = {
    "jobs_fired_total",
    "jobs_lateness_seconds",
    "jobs_runs_total",
    "jobs_skipped_total",
    "leasing_acquisition_duration_seconds",
    "leasing_acquisitions_total",
    "leasing_active_leases",
    "leasing_leases_lost_total",
    "leasing_renewal_failures_total",
    "leasing_renewals_total",
    "license_acquire_failures_total",
    "license_acquire_requests_total",
    "license_heartbeats_total",
    "license_log_entries_total",
    "license_offers_total",
    "license_resumes_total",
    "license_wait_seconds",
    "license_waiting",
    "messages_dead",
    "messages_oldest_seconds",
    "session_heartbeat_latency_seconds",
    "sessions_active",
    "sessions_created_total",
    "sessions_expiry_duration_seconds",
    "sessions_upgraded_total",
    "task_stale_locks_reclaimed_total",
    "tenure_audit_entries_total",
    "tenure_http_connections",
    "tenure_http_rate_limited_total",
    "tenure_http_rejected_total",
    "tenure_http_request_duration_seconds",
    "tenure_http_requests_total",
    "tenure_inbox_begin_total",
    "tenure_inbox_dead_total",
    "tenure_inbox_finish_total",
    "tenure_inbox_forgotten_total",
    "tenure_jobs",
    "tenure_lane_batch_items",
    "tenure_lane_batch_seconds",
    "tenure_lane_connections_total",
    "tenure_leasing_releases_total",
    "tenure_leasing_waiting_requests",
    "tenure_messages_claimed_total",
    "tenure_messages_crashes_total",
    "tenure_messages_delayed",
    "tenure_messages_duplicates_total",
    "tenure_messages_enqueued_total",
    "tenure_messages_promoted_total",
    "tenure_messages_ready",
    "tenure_messages_reports_total",
    "tenure_messages_stage_seconds",
    "tenure_messages_timer_lateness_seconds",
    "tenure_messages_waiting_claims",
    "tenure_ready",
    "tenure_sessions_deleted_total",
    "tenure_sessions_existing_total",
    "tenure_sessions_expired_total",
    "tenure_sessions_foreign_total",
    "tenure_store_query_seconds",
    "tenure_task_lateness_seconds",
    "tenure_task_runs_total",
    "usage_emissions_total",
    "usage_window_lateness_seconds",
};

/// Of them what a process counts when it starts and then once a minute.
const std::set<std::string> kCountedSeldom = {"leasing_active_leases", "tenure_jobs"};

struct Elsewhere {
  std::string metric;
  std::string file;
  std::string test;  ///< its name
};
/// What takes too long, or a store that fails: the test that does it.
const std::vector<Elsewhere> kRaisedElsewhere = {
    {"jobs_last_success_timestamp_seconds", "src/jobs/contract_test.cpp",
     "WhatIsWatchedAndWhatFailsIsCounted"},
    {"tenure_jobs_failing", "src/jobs/contract_test.cpp", "WhatIsWatchedAndWhatFailsIsCounted"},
    {"tenure_jobs_overdue_seconds", "src/jobs/contract_test.cpp",
     "WhatIsWatchedAndWhatFailsIsCounted"},
    {"tenure_jobs_runs_forgotten_total", "src/jobs/contract_test.cpp",
     "RunsAreKeptForTheirTimeAndTheLastOfEachJobStays"},
    {"tenure_jobs_success_expected_timestamp_seconds", "src/jobs/contract_test.cpp",
     "WhatIsWatchedAndWhatFailsIsCounted"},
    {"queue_active_sessions", "src/queues/probe_test.cpp",
     "TurnsAndMessagesAreCountedByWhatBecameOfThem"},
    {"queue_session_duration", "src/queues/probe_test.cpp",
     "TurnsAndMessagesAreCountedByWhatBecameOfThem"},
    {"queue_session_message_count", "src/queues/probe_test.cpp",
     "TurnsAndMessagesAreCountedByWhatBecameOfThem"},
    {"queue_session_timeout_rate", "src/queues/probe_test.cpp",
     "TimeOutsAreCountedAndTheirShareIsThatOfFiveMinutes"},
    {"queue_session_timeouts_total", "src/queues/probe_test.cpp",
     "TimeOutsAreCountedAndTheirShareIsThatOfFiveMinutes"},
    {"queue_concurrent_session_utilization", "src/queues/probe_test.cpp",
     "TurnsAndMessagesAreCountedByWhatBecameOfThem"},
    {"queue_ready_sessions", "src/queues/probe_test.cpp",
     "TurnsAndMessagesAreCountedByWhatBecameOfThem"},
    {"queue_oldest_ready_seconds", "src/queues/probe_test.cpp",
     "TurnsAndMessagesAreCountedByWhatBecameOfThem"},
    {"queue_parked_sessions", "src/queues/probe_test.cpp",
     "TimeOutsAreCountedAndTheirShareIsThatOfFiveMinutes"},
    {"queue_messages", "src/queues/probe_test.cpp", "TurnsAndMessagesAreCountedByWhatBecameOfThem"},
    {"queue_messages_total", "src/queues/probe_test.cpp",
     "TurnsAndMessagesAreCountedByWhatBecameOfThem"},
    {"queue_bytes", "src/queues/probe_test.cpp", "TurnsAndMessagesAreCountedByWhatBecameOfThem"},
    {"queue_depth_over_threshold", "src/queues/probe_test.cpp",
     "TurnsAndMessagesAreCountedByWhatBecameOfThem"},
    {"queue_full", "src/queues/probe_test.cpp", "TurnsAndMessagesAreCountedByWhatBecameOfThem"},
    {"queue_generation_blocked", "src/queues/probe_test.cpp",
     "TimeOutsAreCountedAndTheirShareIsThatOfFiveMinutes"},
    {"queue_handout_seconds", "src/queues/probe_test.cpp",
     "TurnsAndMessagesAreCountedByWhatBecameOfThem"},
    {"queue_staged", "src/queues/sql_test.cpp", "WhatHasNotEnteredIsCounted"},
    {"tenure_webhook_events_forgotten_total", "src/webhooks/contract_test.cpp",
     "WhatIsOldIsForgottenWithItsBody"},
    {"queue_routing_fallbacks_total", "tests/api/webhook_test.cpp",
     "AWellFormedSignedEventIsTakenWhateverItIs"},
    {"webhook_deliveries_total", "tests/api/webhook_test.cpp",
     "ASignatureThatIsMissingMalformedRepeatedOrWrongIs401AndAllAreAlike"},
    {"webhook_secrets", "tests/api/webhook_test.cpp", "AnEventIsFoundByWhatItIsAboutAndExplained"},
    {"webhook_intake_seconds", "tests/api/webhook_test.cpp",
     "AnEventIsFoundByWhatItIsAboutAndExplained"},
    {"seat_ledger_authority_seconds", "src/seats/redis/redis_path_test.cpp",
     "MetricsTellWhichRedisKeepsHeartbeats"},
    {"seat_ledger_beats_total", "src/seats/redis/redis_path_test.cpp", "seat_ledger_beats_total"},
    {"seat_ledger_bumps_total", "src/seats/redis/redis_path_test.cpp",
     "MetricsTellWhichRedisKeepsHeartbeats"},
    {"seat_ledger_epoch", "src/seats/redis/redis_path_test.cpp",
     "MetricsTellWhichRedisKeepsHeartbeats"},
    {"seat_ledger_frozen_seconds", "src/seats/redis/redis_path_test.cpp",
     "MetricsTellWhichRedisKeepsHeartbeats"},
    {"seat_ledger_info", "src/seats/redis/redis_path_test.cpp",
     "MetricsTellWhichRedisKeepsHeartbeats"},
    {"seat_ledger_request_seconds", "src/seats/redis/redis_path_test.cpp",
     "MetricsTellWhichRedisKeepsHeartbeats"},
    {"seat_ledger_testimony_total", "src/seats/redis/redis_path_test.cpp",
     "MetricsTellWhichRedisKeepsHeartbeats"},
    {"license_seats_total", "src/seats/log_test.cpp", "ListsShowLicensesHoldingsTicketsAndLevels"},
    {"license_seats_used", "src/seats/log_test.cpp", "ListsShowLicensesHoldingsTicketsAndLevels"},
    {"tenure_http_connections_evicted_total", "src/http/server_limits_test.cpp",
     "tenure_http_connections_evicted_total"},
    {"tenure_messages_topic_ready", "src/telemetry/metrics_test.cpp", "ReplaceGauges"},
    {"tenure_sessions_removed_total", "src/sessions/contract_test.cpp",
     "EndedSessionsAreRemovedAfterTheirRetentionAndTheKeyCanBeUsedAgain"},
    {"tenure_store_forgotten_evidence_total", "src/db/evidence_test.cpp",
     "tenure_store_forgotten_evidence_total"},
    {"tenure_usage_refused_records", "src/usage/contract_test.cpp",
     "AChunkThatIsRefusedIsHalvedDownToTheRecordThatIsWrong"},
    {"usage_unsent_records", "src/usage/contract_test.cpp",
     "AChunkThatIsRefusedIsHalvedDownToTheRecordThatIsWrong"},
    {"sessions_contention_total", "src/sessions/contract_test.cpp",
     "WhoFindsUnderTheLockWhatALookHadNotSeenIsCountedAsContention"},
    {"store_clock_step_seconds", "src/app/store_watch_test.cpp",
     "AStepOfTheStoresClockIsWhatNoDelayExplains"},
    {"task_lock_age_seconds", "src/tasks/contract_test.cpp", "TheAgeOfALockIsCounted"},
    {"tenure_audit_forgotten_total", "src/audit/contract_test.cpp",
     "TheRetentionRemovesWhatIsOldAndTheBoundTellsSinceWhenAllIsThere"},
    {"tenure_audit_refusals_total", "src/audit/refusals_test.cpp",
     "TheFirstIsWrittenAndTheOthersOfItsMinuteAreOneSum"},
    {"tenure_auth_jwks_fetches_total", "src/auth/key_keeper_test.cpp",
     "TheLastKeysStayForADayWhileTheIssuerIsAway"},
    {"tenure_auth_keys", "src/auth/key_keeper_test.cpp", "AFileThatChangesIsReadWithinItsInterval"},
    {"tenure_auth_tokens_total", "src/auth/authenticator_test.cpp", "tenure_auth_tokens_total"},
    {"tenure_inbox_stuck", "src/inbox/contract_test.cpp",
     "AClaimThatIsOverdueForFiveMinutesIsStuckUntilItIsDeliveredAgain"},
    {"tenure_lane_batches_retried_total", "src/db/lane_test.cpp",
     "ASerializationFailureRunsTheBatchAgain"},
    {"tenure_lane_queue_items", "src/db/lane_test.cpp", "WhatWaitsBehindABatchIsCounted"},
    {"tenure_lane_refused_total", "src/db/lane_test.cpp", "AFullQueueRefusesAtOnceAndDrainsAgain"},
    {"tenure_messages_unhandled", "src/messages/contract_test.cpp",
     "MessagesOfATopicThatNobodyAsksForAreUnhandled"},
    {"push_circuit_open", "src/push/contract_test.cpp",
     "ACircuitOpensAfterTenFailuresAndAProbeClosesIt"},
    {"tenure_push_circuits_open", "src/push/contract_test.cpp",
     "ACircuitOpensAfterTenFailuresAndAProbeClosesIt"},
    {"push_delivered_total", "tests/api/push_test.cpp", "push_delivered_total 20"},
    {"push_failed_total", "tests/api/push_test.cpp", "push_failed_total"},
    {"push_in_flight", "tests/api/push_test.cpp", "push_in_flight"},
    {"push_latency_seconds", "tests/api/push_test.cpp", "push_latency_seconds_count"},
    {"tenure_push_subscriptions_disabled", "tests/api/push_test.cpp",
     "tenure_push_subscriptions_disabled 1"},
    {"tenure_push_subscriptions_held", "tests/api/push_test.cpp",
     "tenure_push_subscriptions_held 1"},
    {"tenure_push_subscriptions_of_old_keys", "tests/api/push_test.cpp",
     "tenure_push_subscriptions_of_old_keys 1"},
    {"tenure_tls_certificate_end_timestamp_seconds", "src/http/certificate_test.cpp",
     "tenure_tls_certificate_end_timestamp_seconds"},
    {"tenure_tls_handshakes_total", "src/http/server_tls_test.cpp", "tenure_tls_handshakes_total"},
    {"tenure_trace_spans_dropped_total", "tests/api/trace_test.cpp",
     "tenure_trace_spans_dropped_total"},
    {"tenure_trace_spans_exported_total", "tests/api/trace_test.cpp",
     "tenure_trace_spans_exported_total"},
};

/// Of each family its largest value; of a histogram how much it has counted.
std::map<std::string, double> Values(const std::string& text) {
  std::map<std::string, double> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with("#")) continue;
    std::string name = line.substr(0, line.find_first_of("{ "));
    for (const char* part : {"_bucket", "_sum", "_count"})
      if (name.ends_with(part)) name.resize(name.size() - std::string_view(part).size());
    double& value = values[name];
    value = std::max(value, std::strtod(line.substr(line.rfind(' ') + 1).c_str(), nullptr));
  }
  return values;
}

std::string SourceText(const std::filesystem::path& file) {
  return support::ReadFile(support::SourceDir() / file);
}

/// The metrics that docs/, alerts and dashboard name.
std::set<std::string> Told() {
  std::string text = SourceText("ops/alerts.yaml") + SourceText("ops/grafana-dashboard.json");
  for (const auto& page : std::filesystem::directory_iterator(support::SourceDir() / "docs"))
    if (page.path().extension() == ".md") text += support::ReadFile(page.path());
  std::set<std::string> told;
  static const std::regex word(R"(\b[a-z]+(_[a-z]+)+\b)");
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) {
    std::string name = at->str();
    for (const std::string_view part : {"_bucket", "_sum", "_count"})
      if (name.ends_with(part)) {
        name.resize(name.size() - part.size());
        break;
      }
    if (telemetry::IsProperName(name) && name != "tenure_app") told.insert(name);
  }
  return told;
}

TEST(Metrics, EveryOneThatOperatorsAreToldOfIsRaisedBySomeTest) {
  std::set<std::string> raised = kRaisedHere;
  for (const Elsewhere& each : kRaisedElsewhere) {
    raised.insert(each.metric);
    EXPECT_NE(SourceText(each.file).find(each.test), std::string::npos)
        << each.file << " has no " << each.test;
  }
  const std::set<std::string> told = Told();
  EXPECT_GE(told.size(), 50u);
  for (const std::string& name : told)
    EXPECT_TRUE(raised.contains(name)) << name << " is raised by no test";
  for (const std::string_view name : telemetry::PromisedNames())
    EXPECT_TRUE(told.contains(std::string(name))) << name << " is promised, and no page has it";
}

/// A server and what happens on it.
class Busy : public testing::TestWithParam<Engine> {
 protected:
  void Serve() {
    server_.reset();
    server_ =
        store_.Serve({"--set", "sessions.duration=2s", "--set", "sessions.expiry_interval=100ms",
                      "--set", "sessions.retention=1s", "--set", "inbox.retention=1s", "--set",
                      "inbox.max_attempts=1", "--set", "usage.interval=1s", "--set",
                      "usage.endpoint=" + sink_.Endpoint(), "--set", "rate_limits.usage=1/h"});
  }
  Api api() const { return Api(*server_); }

  void UseSessions() const {
    const Key key = NewKey();
    Key foreign = key;
    foreign.tenant = NewUuid();
    api().Put(key, 1);
    api().Put(key, 1);
    const std::string id = api().Put(key, 2).Json()["sessionId"].Text();
    api().Put(foreign, 1);
    api().Delete(id);
    api().Get("/usage/windows");
    EXPECT_EQ(api().Get("/usage/windows").status, 429);
  }
  /// From now on the receiver refuses a session's records. Ended sessions stay until it takes them.
  void BeRefused() const {
    const std::string refused = api().Put(NewKey(), 1).Json()["sessionId"].Text();
    sink_.SetFaults("refuse-session:" + refused + "=422");
  }
  void UseLeases() {
    held_.emplace(api(), "held");
    held_->Acquire();
    waiting_.emplace(api(), *held_, Ask{.wait_ms = 60'000});
    Lease lease(api());
    lease.Acquire();
    lease.Renew();
    lease.Release();
    EXPECT_EQ(lease.Renew().status, 409);
    lease.Acquire();
    lease.Break(R"(,"force":true)");
  }
  void UseMessages() {
    const Topic topic(api());
    topic.Send(R"(,"dedup_key":"one")");
    topic.Send(R"(,"dedup_key":"one")");
    topic.Report("ack", topic.Take());
    topic.Send();
    topic.Report("fail", topic.Take());
    topic.Send();
    topic.Take(R"(,"lease_ms":1000)");  // and says nothing of it any more
    topic.SetTimer(50);
    topic.SetTimer(600'000);
    Topic(api()).Send();  // nobody takes it
    const Topic empty(api());
    claim_.emplace(empty);
  }
  void UseJobs() const {
    const Topic topic(api());
    const std::string path = "/api/v1/jobs/" + NewUuid();
    api().Call("PUT", path, R"({"every":"1s","topic":")" + topic.name() + "\"}");
    api().Call("POST", path + "/trigger", "{}");
    topic.Report("ack", topic.Take());
  }
  void UseInbox() const {
    const auto call = [&](const std::string& action, const std::string& more) {
      return api().Call("POST", "/api/v1/inbox/" + action,
                        R"({"source":"test","message_id":"m")" + more + "}");
    };
    const std::int64_t fence = call("begin", "").Json()["fence"].Int();
    call("fail", R"(,"error":"no","fence":)" + std::to_string(fence));
  }
  void UseSeats() {
    const std::string path = "/api/v1/licenses";
    const support::Json license = api().Call("POST", path, R"({"seats":1})").Json();
    const auto body = [&](const std::string& machine, const std::string& more) {
      return R"({"license_key":")" + license["license_key"].Text() + R"(","machine_id":")" +
             machine + "\"" + more + "}";
    };
    const auto acquire = [&](const std::string& machine) {
      return api().Call("POST", path + "/acquire", body(machine, ""));
    };
    acquire("m1");
    const std::string session = acquire("m1").Json()["session_id"].Text();
    api().Call("PATCH", path + "/sessions/" + session + "/heartbeat");
    EXPECT_EQ(acquire("m2").status, 403);
    const std::string waits = R"(,"wait_seconds":30)";
    WaitingCall next(api(), path + "/acquire", body("m3", waits));
    const auto waiting = [&] {
      return api().Get(path + "/" + license["id"].Text()).Json()["waiting"].Int() == 1;
    };
    Eventually("one waits for a seat", waiting);
    api().Call("POST", path + "/sessions/" + session + "/revoke", R"({"force":true})");
    EXPECT_EQ(next.Answer().status, 201);
    seat_.emplace(api(), path + "/acquire", body("m4", waits));
    Eventually("another one waits", waiting);
  }
  void UseTasks() const {
    const auto claim = [&] {
      return api().Call("POST", "/api/v1/tasks/mine/claim",
                        R"({"holder":"test","interval_ms":1000,"lock_timeout_ms":1000,"term":")" +
                            NewUuid() + "\"}");
    };
    EXPECT_EQ(claim().status, 200);
    Eventually("a run is taken over", [&] {
      const auto answer = claim();
      return answer.status == 200 && answer.body.find("\"reclaimed\":true") != std::string::npos;
    });
  }
  void SendNonsense() const {
    support::HttpConnection connection(api().port());
    connection.Send("nonsense\r\n\r\n");
    connection.ReadUntilClose();
  }

  StoreUnderTest store_{GetParam()};
  support::SinkProcess sink_;
  std::unique_ptr<support::ServerProcess> server_;
  std::optional<Lease> held_;
  std::optional<WaitingAcquire> waiting_;
  std::optional<WaitingClaim> claim_;
  std::optional<WaitingCall> seat_;
};

TEST_P(Busy, RaisesEveryMetricOfTheTable) {
  Serve();
  UseSessions();
  UseLeases();
  UseMessages();
  UseJobs();
  UseInbox();
  UseTasks();
  UseSeats();
  SendNonsense();
  std::set<std::string> missing = kRaisedHere;
  bool is_refused = false, is_new = false;
  const auto look = [&] {
    if (!missing.contains("usage_emissions_total") && !std::exchange(is_refused, true)) BeRefused();
    // Some are of what is going on: a session, and who waits.
    api().Put(NewKey(), 1);
    for (const auto& [name, value] : Values(api().Get("/metrics").body))
      if (value > 0) missing.erase(name);
    if (missing.empty()) return true;
    if (std::ranges::includes(kCountedSeldom, missing) && !std::exchange(is_new, true)) Serve();
    return false;
  };
  try {
    Eventually("all have been raised", look, std::chrono::seconds(90));
  } catch (const std::exception&) {
    for (const std::string& name : missing) ADD_FAILURE() << name << " was not raised";
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, Busy, EachEngine(), EngineName);

class Idle : public testing::TestWithParam<Engine> {};

TEST_P(Idle, AServerHasFewLinesAndNamesOfItsOwn) {
  const StoreUnderTest store(GetParam());
  const auto server = store.Serve();
  const Api api(*server);
  std::string text;
  Eventually("its tasks have run", [&] {
    text = api.Get("/metrics").body;
    return text.find("tenure_task_runs_total{") != std::string::npos;
  });
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 600) << text;
  for (const auto& [name, value] : Values(text)) EXPECT_TRUE(telemetry::IsProperName(name)) << name;
}

INSTANTIATE_TEST_SUITE_P(Engines, Idle, EachEngine(), EngineName);

}  // namespace
}  // namespace tenure::api
