// `tenure lease …`, `tenure task …` and `tenure why lease` against a running server.
#include <signal.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/lease_calls.hpp"
#include "api/program.hpp"
#include "api/store_under_test.hpp"
#include "support/port.hpp"

namespace tenure::api {
namespace {

using support::Json;
using testing::HasSubstr;

class LeaseCommand : public testing::Test {
 protected:
  ProgramResult Tenure(std::vector<std::string> arguments) {
    return RunTenure(std::move(arguments), {{"TENURE_SERVER", server_.Url()}});
  }
  ProgramResult RunUnderLease(const std::string& script) {
    return Tenure({"lease", "run", lease_.name(), "--", "sh", "-c", script});
  }
  /// The same, under way. `flags` stand before the two dashes.
  std::unique_ptr<support::Process> StartUnderLease(const std::string& script,
                                                    const std::vector<std::string>& flags = {}) {
    std::vector<std::string> argv{support::TenureBinary(), "lease", "run", lease_.name()};
    argv.insert(argv.end(), flags.begin(), flags.end());
    argv.insert(argv.end(), {"--", "sh", "-c", script});
    return std::make_unique<support::Process>(support::ProcessOptions{
        .argv = std::move(argv), .environment = {{"TENURE_SERVER", server_.Url()}}});
  }
  std::string LastEnd() const { return lease_.Look()["history"][0]["reason"].Text(); }

  const support::ServerProcess& server_ = SharedServer(Engine::kSqlite);
  Api api_{server_};
  Lease lease_{api_};
};

TEST_F(LeaseCommand, ACommandFindsItsLeaseInItsEnvironmentAndItsExitCodeIsOurs) {
  lease_.Acquire();
  lease_.Release();
  const auto ran = RunUnderLease("echo $TENURE_LEASE $TENURE_FENCE $TENURE_TERM; exit 7");
  EXPECT_EQ(ran.exit_code, 7) << ran.err;
  const Json past = lease_.Look()["history"][0];
  EXPECT_EQ(ran.out, lease_.name() + " " + std::to_string(past["fence"].Int()) + " " +
                         past["term"].Text() + "\n");
  EXPECT_EQ(past["fence"].Int(), lease_.fence() + 1);
  EXPECT_EQ(past["reason"].Text(), "released");
}

TEST_F(LeaseCommand, ACommandThatCannotBeRunOrDiesIsReportedAsShellsDo) {
  EXPECT_EQ(Tenure({"lease", "run", lease_.name(), "--", "no-such-command"}).exit_code, 127);
  EXPECT_EQ(Tenure({"lease", "run", lease_.name(), "--", "/"}).exit_code, 126);
  EXPECT_EQ(RunUnderLease("kill -KILL $$").exit_code, 128 + SIGKILL);
  EXPECT_EQ(LastEnd(), "released");
}

TEST_F(LeaseCommand, ItsArgumentsMayLookLikeOurFlags) {
  const auto ran = Tenure({"lease", "run", lease_.name(), "--", "echo", "--json", "--", "--help"});
  EXPECT_EQ(ran.out, "--json -- --help\n");
}

TEST_F(LeaseCommand, WhatAnotherHoldsIsExitCode4AndTheCommandDoesNotRun) {
  lease_.Acquire({.holder = "somebody"});
  const auto ran = RunUnderLease("echo ran");
  EXPECT_EQ(ran.exit_code, 4);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("somebody holds it until"));
}

TEST_F(LeaseCommand, WithoutAServerItIsExitCode5) {
  const support::ReservedPort nobody;
  const auto ran = RunTenure({"lease", "run", "x", "--server",
                              "http://127.0.0.1:" + std::to_string(nobody.number()), "--", "true"});
  EXPECT_EQ(ran.exit_code, 5) << ran.err;
}

TEST_F(LeaseCommand, TheLeaseIsRenewedWhileTheCommandRuns) {
  const auto running = StartUnderLease("echo started; exec sleep 1000", {"--ttl", "1s"});
  running->WaitForLine("started");
  Eventually("it was renewed", [&] {
    const Json seen = lease_.Look();
    return TimeMs(seen["renewed_at"].Text()) > TimeMs(seen["granted_at"].Text()) + 1'000;
  });
  running->Kill(SIGTERM);
  EXPECT_EQ(running->Wait(), 128 + SIGTERM);
}

TEST_F(LeaseCommand, ABrokenLeaseStopsItsCommandWithExitCode6) {
  const auto running = StartUnderLease("echo started; exec sleep 1000", {"--ttl", "1s"});
  running->WaitForLine("started");
  EXPECT_TRUE(lease_.Break(R"(,"force":true)").Json()["broken"].Bool());
  EXPECT_EQ(running->Wait(), 6);
  EXPECT_THAT(running->Output(), HasSubstr("was lost (broken)"));
}

TEST_F(LeaseCommand, ACommandThatDoesNotStopIsKilledAfterTheGrace) {
  const auto running = StartUnderLease("trap '' TERM; echo started; while :; do sleep 0.1; done",
                                       {"--ttl", "1s", "--grace", "100ms"});
  running->WaitForLine("started");
  lease_.Break(R"(,"force":true)");
  EXPECT_EQ(running->Wait(), 6);
}

TEST_F(LeaseCommand, ACommandThatEndsAfterTheLossIsNotReportedAsASuccess) {
  const auto running = StartUnderLease("echo started; read line < /dev/null; exit 0");
  running->WaitForLine("started");
  // Whether the break came before its end or after it, 0 means that it was under the lease.
  const bool broken = lease_.Break(R"(,"force":true)").Json()["broken"].Bool();
  EXPECT_EQ(running->Wait(), broken ? 6 : 0);
}

TEST_F(LeaseCommand, ASignalIsPassedOnAndTheCommandsAnswerCounts) {
  const auto running =
      StartUnderLease("trap 'exit 9' TERM; echo started; while :; do sleep 0.1; done");
  running->WaitForLine("started");
  running->Kill(SIGTERM);
  EXPECT_EQ(running->Wait(), 9);
  EXPECT_EQ(LastEnd(), "released");
}

TEST_F(LeaseCommand, WhatACommandLeavesInTheBackgroundEndsWithIt) {
  const auto ran = RunUnderLease("sleep 1000 >&- 2>&- & echo $!");
  const pid_t left = std::stoi(ran.out);
  Eventually("it is gone", [&] {
    std::ifstream stat("/proc/" + std::to_string(left) + "/stat");
    std::string text;
    return !std::getline(stat, text) || text.find(") Z ") != std::string::npos;
  });
}

TEST_F(LeaseCommand, ItStandsInLineAndRunsWhenItsTurnComes) {
  lease_.Acquire();
  const auto waiting = StartUnderLease("echo fence $TENURE_FENCE", {"--wait", "60s"});
  AwaitLine(lease_, 1);
  lease_.Release();
  EXPECT_EQ(waiting->Wait(), 0);
  EXPECT_THAT(waiting->Output(), HasSubstr("fence " + std::to_string(lease_.fence() + 1)));
}

TEST_F(LeaseCommand, ASignalEndsTheWaitAndLeavesTheLine) {
  lease_.Acquire();
  const auto waiting = StartUnderLease("echo ran", {"--wait", "60s"});
  AwaitLine(lease_, 1);
  waiting->Kill(SIGINT);
  EXPECT_EQ(waiting->Wait(), 128 + SIGINT);
  EXPECT_THAT(waiting->Output(), testing::Not(HasSubstr("ran")));
  AwaitLine(lease_, 0);
}

TEST_F(LeaseCommand, TheOperatorsCommands) {
  lease_.Acquire({.holder = "worker-1"});
  EXPECT_THAT(Tenure({"lease", "show", lease_.name()}).out, HasSubstr("holder    worker-1\n"));
  EXPECT_THAT(Tenure({"lease", "list", "--prefix", lease_.name()}).out, HasSubstr("worker-1"));
  EXPECT_THAT(Tenure({"why", "lease", lease_.name()}).out, HasSubstr("is held by worker-1"));
  const auto broken = Tenure({"lease", "break", lease_.name(), "--reason", "a test", "--force"});
  EXPECT_EQ(broken.exit_code, 0) << broken.err;
  EXPECT_EQ(lease_.Look()["state"].Text(), "free");
  EXPECT_THAT(Tenure({"lease", "history", lease_.name()}).out, HasSubstr("a test"));
  EXPECT_EQ(Tenure({"lease", "show", "never/granted"}).exit_code, 3);
  EXPECT_EQ(Tenure({"why", "lease", "never/granted"}).exit_code, 3);
}

TEST_F(LeaseCommand, TheTasksCommands) {
  Eventually("the server's own tasks are there", [&] {
    return Tenure({"task", "list"}).out.find("sessions.expiry") != std::string::npos;
  });
  EXPECT_EQ(Tenure({"task", "run", "sessions.expiry"}).exit_code, 0);
  EXPECT_EQ(Tenure({"task", "run", "no-such-task"}).exit_code, 3);
}

}  // namespace
}  // namespace tenure::api
