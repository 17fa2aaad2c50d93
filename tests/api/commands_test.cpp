// The commands against a running server: `tenure session`, `lease`, `task`, `message`, `timer`,
// `why`.
#include <signal.h>

#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/calls.hpp"
#include "api/store_under_test.hpp"
#include "support/port.hpp"

namespace tenure::api {
namespace {

using support::Json;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class SessionCommand : public testing::Test {
 protected:
  ProgramResult Session(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "session");
    return RunTenure(std::move(arguments),
                     {{"TENURE_SERVER", SharedServer(Engine::kSqlite).Url()}});
  }
  ProgramResult Put(const std::string& kind, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"put",         "--user",    key_.user,
                                       "--tenant",    key_.tenant, "--capacity",
                                       key_.capacity, "--kind",    kind};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Session(std::move(arguments));
  }
  std::string PutId() { return Json::Parse(Put("1", {"--json"}).out)["sessionId"].Text(); }

  Key key_ = NewKey();
};

TEST_F(SessionCommand, PutSaysWhatHappenedToPeople) {
  const auto created = Put("basic");
  EXPECT_EQ(created.exit_code, 0) << created.err;
  EXPECT_THAT(created.out, HasSubstr("status    created\n"));
  EXPECT_THAT(created.out, HasSubstr("1 Basic"));
  EXPECT_THAT(created.out, HasSubstr(key_.user));
  EXPECT_THAT(created.out, testing::ContainsRegex("left      (30d 0h|29d 23h)"));
  EXPECT_THAT(Put("1").out, HasSubstr("status    existing\n"));
  const auto upgraded = Put("Premium");
  EXPECT_THAT(upgraded.out, HasSubstr("status    upgraded\n"));
  EXPECT_THAT(upgraded.out, HasSubstr("3 Premium"));
  EXPECT_THAT(upgraded.out, HasSubstr("replaces  "));
}

TEST_F(SessionCommand, AnotherTenantsSessionIsExitCode4) {
  Put("1");
  key_.tenant = NewUuid();
  const auto conflict = Put("1");
  EXPECT_EQ(conflict.exit_code, 4);
  EXPECT_EQ(conflict.out, "");
  EXPECT_THAT(conflict.err, HasSubstr("another tenant"));
  const auto json = Put("1", {"--json"});
  EXPECT_EQ(json.exit_code, 4);
  EXPECT_EQ(Json::Parse(json.err)["status"].Int(), 409);
}

TEST_F(SessionCommand, EndEndsItAndAgainIsNoError) {
  const std::string id = PutId();
  const auto ended = Session({"end", id});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.out, HasSubstr("has ended"));
  const auto again = Session({"end", id, "--json"});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_EQ(again.out, "");
  EXPECT_THAT(Session({"get", id}).out, HasSubstr("ended (deleted)"));
}

TEST_F(SessionCommand, ListShowsATableOrJsonPageAfterPage) {
  for (int i = 0; i < 5; ++i) {
    key_.capacity = NewUuid();
    EXPECT_EQ(Put("1").exit_code, 0);
  }
  const auto table = Session({"list", "--user", key_.user});
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_THAT(table.out, HasSubstr("SESSION"));
  EXPECT_EQ(std::count(table.out.begin(), table.out.end(), '\n'), 6);
  EXPECT_THAT(table.out, Not(HasSubstr("USER"))) << "a column that a flag fixes";

  const auto page = Session({"list", "--user", key_.user, "--limit", "2"});
  EXPECT_THAT(page.err, HasSubstr("There are more"));
  const auto all = Session({"list", "--user", key_.user, "--limit", "2", "--all", "--json"});
  EXPECT_EQ(Json::Parse(all.out)["items"].Size(), 5U);
  EXPECT_TRUE(Json::Parse(all.out)["nextCursor"].IsNull());
  const auto none = Session({"list", "--user", NewUuid()});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_THAT(none.err, HasSubstr("no sessions"));
  EXPECT_EQ(Json::Parse(Session({"list", "--user", NewUuid(), "--json"}).out)["items"].Size(), 0U);
}

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

TEST_F(LeaseCommand, ACommandIsNotHandedTheToken) {
  const auto ran =
      RunTenure({"lease", "run", lease_.name(), "--", "sh", "-c", "echo [$TENURE_TOKEN]"},
                {{"TENURE_SERVER", server_.Url()}, {"TENURE_TOKEN", "secret"}});
  EXPECT_EQ(ran.out, "[]\n") << ran.err;
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
  EXPECT_THAT(ran.err, HasSubstr("is held by somebody until"));
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

class MessageCommand : public testing::Test {
 protected:
  ProgramResult Tenure(std::vector<std::string> arguments) {
    return RunTenure(std::move(arguments), {{"TENURE_SERVER", server_.Url()}});
  }
  /// What it prints without its line's end; it must succeed.
  std::string Printed(std::vector<std::string> arguments) {
    const ProgramResult ran = Tenure(std::move(arguments));
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran.out.substr(0, ran.out.find('\n'));
  }
  /// A dead letter of the topic.
  std::string Bury() {
    topic_.Send();
    const Claimed claimed = topic_.Take();
    topic_.Report("fail", claimed, R"(,"error":"hopeless")");
    return claimed.id;
  }

  const support::ServerProcess& server_ = SharedServer(Engine::kSqlite);
  Api api_{server_};
  Topic topic_{api_};
};

TEST_F(MessageCommand, WhatIsEnqueuedIsShownAndExplained) {
  const std::string id = Printed({"message", "enqueue", topic_.name(), R"({"order": 7})",
                                  "--priority", "1", "--dedup-key", "k"});
  EXPECT_EQ(Printed({"message", "enqueue", topic_.name(), "8", "--dedup-key", "k"}), id);
  const std::string shown = Tenure({"message", "show", id}).out;
  EXPECT_THAT(shown, HasSubstr("state         ready\n"));
  EXPECT_THAT(shown, HasSubstr("priority      1\n"));
  EXPECT_THAT(Tenure({"why", "message", id}).out, HasSubstr("nobody has ever asked"));
  EXPECT_EQ(topic_.Take().id, id);
  EXPECT_THAT(Tenure({"why", "message", id}).out, HasSubstr("(claimed): "));
  EXPECT_EQ(Tenure({"message", "show", NewUuid()}).exit_code, 3);
  EXPECT_EQ(Tenure({"why", "message", NewUuid()}).exit_code, 3);
}

TEST_F(MessageCommand, WhatIsNoJsonIsRefusedBeforeTheServerIsAsked) {
  const ProgramResult ran = Tenure({"message", "enqueue", topic_.name(), "hello"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("needs its quotes"));
}

TEST_F(MessageCommand, TopicsAreListedPausedAndResumed) {
  topic_.Send();
  EXPECT_EQ(Printed({"message", "pause", topic_.name(), "--reason", "closed today"}),
            topic_.name() + " is paused");
  EXPECT_THAT(Tenure({"message", "list", "--all"}).out, HasSubstr("closed today"));
  EXPECT_EQ(topic_.Claim().Json()["messages"].Size(), 0U);
  Printed({"message", "resume", topic_.name()});
  EXPECT_EQ(topic_.Claim().Json()["messages"].Size(), 1U);
}

TEST_F(MessageCommand, DeadLettersAreListedRedrivenAndDiscarded) {
  const std::string one = Bury();
  const std::string two = Bury();
  const std::string listed = Tenure({"message", "dead", "--topic", topic_.name()}).out;
  EXPECT_THAT(listed, testing::AllOf(HasSubstr(one), HasSubstr(two), HasSubstr("hopeless")));
  EXPECT_EQ(Printed({"message", "redrive", "--topic", topic_.name(), "--dry-run"}),
            "2 dead letters would be changed");
  EXPECT_EQ(Printed({"message", "redrive", "--id", one, "--rate", "100"}),
            "1 dead letter redriven");
  EXPECT_EQ(topic_.Take(R"(,"wait_ms":60000)").id, one);
  EXPECT_EQ(Tenure({"message", "discard"}).exit_code, 2) << "never all by mistake";
  EXPECT_EQ(Printed({"message", "discard", "--topic", topic_.name()}), "1 dead letter discarded");
  EXPECT_EQ(api_.Get("/api/v1/messages/" + two).status, 404);
}

TEST_F(MessageCommand, ATimerIsSetShownAndCancelled) {
  EXPECT_EQ(Tenure({"timer", "set", topic_.name(), "1"}).exit_code, 2) << "it must say when";
  const std::string id = Printed({"timer", "set", topic_.name(), "1", "--delay", "1h"});
  EXPECT_THAT(Tenure({"timer", "show", id}).out, HasSubstr("fired         false\n"));
  EXPECT_EQ(Printed({"timer", "cancel", id}), "cancelled");
  EXPECT_EQ(Tenure({"timer", "cancel", id}).exit_code, 3);
  EXPECT_EQ(Tenure({"timer", "cancel", topic_.Send()}).exit_code, 4) << "it has fired";
}

}  // namespace
}  // namespace tenure::api
