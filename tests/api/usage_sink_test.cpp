// The receiver of usage as a process of its own: what it has answered survives its death, and what
// a server sends it through lost answers and refusals adds up to the last millionth.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/program.hpp"
#include "support/server_process.hpp"
#include "support/sink_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {
namespace {

using support::SinkProcess;
using testing::HasSubstr;

constexpr const char* kSession = "0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071";

std::int64_t RecordsOf(const SinkProcess& sink) {
  const support::Json items = sink.Call("GET", "/totals").Json()["items"];
  return items.Size() == 0 ? 0 : items[0]["records"].Int();
}

std::string RecordOf(int window) {
  return std::string(R"({"recordId":")") + std::to_string(window) + "-" + kSession +
         R"(","sessionId":")" + kSession +
         R"(","userObjectId":"11111111-1111-4111-8111-111111111111",)"
         R"("tenantObjectId":"22222222-2222-4222-8222-222222222222",)"
         R"("capacityId":"33333333-3333-4333-8333-333333333333","sessionKind":2,)"
         R"("windowStartUtc":"2026-01-01T00:00:00.000Z",)"
         R"("windowEndUtc":"2026-01-01T00:01:00.000Z","usage":0.000046})";
}

TEST(UsageSink, KilledAndStartedAgainItHasEverythingThatItAnswered) {
  const support::TempDir folder;
  for (int round = 0; round < 3; ++round) {
    SinkProcess sink({.data_dir = folder.path()});
    EXPECT_EQ(RecordsOf(sink), round);
    const std::string body = "[" + RecordOf(round + 1) + "]";
    EXPECT_EQ(sink.Call("POST", "/usages", body).body, R"({"applied":1,"duplicate":0})");
    sink.Kill();
  }
  SinkProcess sink({.data_dir = folder.path()});
  EXPECT_EQ(sink.Call("POST", "/usages", "[" + RecordOf(2) + "]").body,
            R"({"applied":0,"duplicate":1})");
  EXPECT_THAT(sink.Call("GET", "/totals").body, HasSubstr("\"usage\":0.000138"));
  EXPECT_EQ(RunTenure({"usage-sink", "--listen", "127.0.0.1:0", "--data", folder.path()}).exit_code,
            1)
      << "the folder belongs to one";
  EXPECT_EQ(sink.Terminate(), 0);
  EXPECT_THAT(sink.Output(), HasSubstr("usage 0.000138 in 3 records of 1 sessions"));
}

TEST(UsageSink, WithoutATokenItServesThisMachineOnly) {
  const support::TempDir folder;
  const ProgramResult refused =
      RunTenure({"usage-sink", "--listen", "0.0.0.0:0", "--data", folder.path()});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("without --token-file only this machine is served"));
}

/// PUT /sessions for one of a few users; the session's id.
std::string Put(const support::ServerProcess& server, int user, int kind) {
  const std::string body = R"({"userObjectId":"11111111-1111-4111-8111-11111111111)" +
                           std::to_string(user) +
                           R"(","tenantObjectId":"22222222-2222-4222-8222-222222222222",)"
                           R"("capacityId":"33333333-3333-4333-8333-333333333333","sessionKind":)" +
                           std::to_string(kind) + "}";
  return server.Call("PUT", "/sessions", body).Json()["sessionId"].Text();
}

void AwaitAcknowledged(const support::ServerProcess& server, std::int64_t number) {
  Eventually("window " + std::to_string(number) + " is acknowledged", [&] {
    const support::Json windows = server.Call("GET", "/usage/windows").Json()["items"];
    for (const support::Json& window : windows.Elements())
      if (window["window"].Int() == number) return window["state"].Text() == "sent";
    return false;
  });
}

TEST(UsageSink, UnderFaultsEveryRecordArrivesExactlyOnceAndTheAuditAgrees) {
  const SinkProcess sink(
      {.flags = {"--fault", "503:0.2,drop-before:0.1,drop-after:0.3", "--fault-seed", "4"}});
  const support::ServerProcess server(
      {.flags = {"--set", "usage.interval=1s", "--set", "usage.endpoint=" + sink.Endpoint()}});
  for (const int user : {1, 2, 3}) Put(server, user, user);
  Eventually("records arrive", [&] { return RecordsOf(sink) >= 6; });
  // Everything that ends or changes what a session costs.
  EXPECT_EQ(
      RunTenure({"usage", "factors", "set", "premium", "2.75", "--server", server.Url()}).exit_code,
      0);
  EXPECT_NE(Put(server, 1, 2), "") << "upgraded";
  EXPECT_EQ(server.Call("DELETE", "/sessions/" + Put(server, 2, 2)).status, 204);
  const auto newest = server.Call("GET", "/usage/windows?limit=1").Json()["items"][0]["window"];
  Eventually("more arrive", [&] { return RecordsOf(sink) >= 12; });
  sink.SetFaults("");
  AwaitAcknowledged(server, newest.Int() + 2);
  const ProgramResult audit =
      RunTenure({"usage", "audit", "--server", server.Url(), "--sink", sink.Url()});
  EXPECT_EQ(audit.exit_code, 0) << audit.out << audit.err;
  EXPECT_THAT(audit.out, HasSubstr("differences   0\n"));
}

}  // namespace
}  // namespace tenure::api
