// The receiver of usage as a process of its own: what it has answered survives its death, and what
// a server sends it through lost answers and refusals adds up to the last millionth.

#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/program.hpp"
#include "support/process.hpp"
#include "support/raw_http.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {
namespace {

using testing::HasSubstr;

constexpr const char* kSession = "0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071";
constexpr const char* kListens = "http://127\\.0\\.0\\.1:([0-9]+)/usages";

/// A real `tenure usage-sink`.
class SinkProcess {
 public:
  explicit SinkProcess(const std::filesystem::path& folder, std::vector<std::string> flags = {})
      : process_(CommandLine(folder, std::move(flags))) {
    const std::string line = process_.WaitForLine(kListens);
    std::smatch match;
    std::regex_search(line, match, std::regex(kListens));
    port_ = std::stoi(match[1]);
  }

  std::string Url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  support::Process& process() { return process_; }
  support::HttpResponse Call(std::string_view method, std::string_view path,
                             std::string_view body = {}) const {
    return support::Call(port_, method, path, body);
  }
  std::int64_t Records() const {
    const support::Json items = Call("GET", "/totals").Json()["items"];
    return items.Size() == 0 ? 0 : items[0]["records"].Int();
  }

 private:
  static support::ProcessOptions CommandLine(const std::filesystem::path& folder,
                                             std::vector<std::string> flags) {
    std::vector<std::string> argv = {support::TenureBinary(), "usage-sink", "--listen",
                                     "127.0.0.1:0",           "--data",     folder};
    argv.insert(argv.end(), flags.begin(), flags.end());
    return {.argv = std::move(argv)};
  }

  support::Process process_;
  int port_ = 0;
};

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
    SinkProcess sink(folder.path());
    EXPECT_EQ(sink.Records(), round);
    const std::string body = "[" + RecordOf(round + 1) + "]";
    EXPECT_EQ(sink.Call("POST", "/usages", body).body, R"({"applied":1,"duplicate":0})");
    sink.process().Kill(SIGKILL);
    sink.process().Wait();
  }
  SinkProcess sink(folder.path());
  EXPECT_EQ(sink.Call("POST", "/usages", "[" + RecordOf(2) + "]").body,
            R"({"applied":0,"duplicate":1})");
  EXPECT_THAT(sink.Call("GET", "/totals").body, HasSubstr("\"usage\":0.000138"));
  EXPECT_EQ(RunTenure({"usage-sink", "--listen", "127.0.0.1:0", "--data", folder.path()}).exit_code,
            1)
      << "the folder belongs to one";
  sink.process().Kill(SIGTERM);
  EXPECT_EQ(sink.process().Wait(), 0);
  EXPECT_THAT(sink.process().Output(), HasSubstr("usage 0.000138 in 3 records of 1 sessions"));
}

TEST(UsageSink, WithoutATokenItServesThisMachineOnly) {
  const support::TempDir folder;
  const ProgramResult refused =
      RunTenure({"usage-sink", "--listen", "0.0.0.0:0", "--data", folder.path()});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("without --token-file only this machine is served"));
}

TEST(UsageSink, UnderFaultsEveryRecordArrivesExactlyOnceAndTheAuditAgrees) {
  const support::TempDir folder;
  SinkProcess sink(folder.path(),
                   {"--fault", "503:0.2,drop-before:0.1,drop-after:0.3", "--fault-seed", "4"});
  const support::ServerProcess server({.flags = {"--set", "usage.interval=1s", "--set",
                                                 "usage.endpoint=" + sink.Url() + "/usages"}});
  for (int user = 1; user <= 3; ++user) {
    const std::string body = R"({"userObjectId":"11111111-1111-4111-8111-11111111111)" +
                             std::to_string(user) +
                             R"(","tenantObjectId":"22222222-2222-4222-8222-222222222222",)"
                             R"("capacityId":"33333333-3333-4333-8333-333333333333",)"
                             R"("sessionKind":)" +
                             std::to_string(user) + "}";
    EXPECT_EQ(server.Call("PUT", "/sessions", body).status, 201);
  }
  Eventually("records arrive", [&] { return sink.Records() >= 9; });
  EXPECT_EQ(sink.Call("PUT", "/faults", R"({"faults":""})").status, 200);
  const auto is_sent = [&](const support::Json& window) {
    return window["state"].Text() == "sent";
  };
  Eventually("the third window is acknowledged", [&] {
    const support::Json windows = server.Call("GET", "/usage/windows").Json()["items"];
    for (const support::Json& window : windows.Elements())
      if (window["window"].Int() == 3) return is_sent(window);
    return false;
  });
  const ProgramResult audit =
      RunTenure({"usage", "audit", "--server", server.Url(), "--sink", sink.Url()});
  EXPECT_EQ(audit.exit_code, 0) << audit.out << audit.err;
  EXPECT_THAT(audit.out, HasSubstr("differences   0\n"));
}

}  // namespace
}  // namespace tenure::api
