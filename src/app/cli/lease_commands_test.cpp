#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/exit_code.hpp"
#include "app/cli/test_support.hpp"

namespace tenure::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A lease as the server writes it; `more` are further fields.
std::string Held(std::string_view more = R"(,"waiters":2)") {
  return std::string(R"({"name":"nightly","state":"held","fence":7,"holder":"host:12",)"
                     R"("term":"6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30","ttl_ms":30000,)"
                     R"("granted_at":"2026-01-01T10:00:00.000Z",)"
                     R"("renewed_at":"2026-01-01T10:59:50.000Z",)"
                     R"("expires_at":"2026-01-01T11:00:20.000Z",)"
                     R"("now":"2026-01-01T11:00:00.000Z","history":[])") +
         std::string(more) + "}";
}

const std::string kBroken =
    R"({"name":"nightly","state":"broken","fence":7,"holder":"host:12",)"
    R"("term":"6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30","ttl_ms":30000,)"
    R"("granted_at":"2026-01-01T10:00:00.000Z","renewed_at":"2026-01-01T10:59:50.000Z",)"
    R"("break_reason":"host is gone","expires_at":"2026-01-01T11:00:20.000Z","waiters":1,)"
    R"("now":"2026-01-01T11:00:00.000Z","history":[]})";

const std::string kFree =
    R"({"name":"nightly","state":"free","fence":7,"ended_at":"2026-01-01T10:30:00.000Z",)"
    R"("waiters":0,"now":"2026-01-01T11:00:00.000Z","history":[{"fence":7,"holder":"host:12",)"
    R"("term":"6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30","granted_at":"2026-01-01T10:00:00.000Z",)"
    R"("ended_at":"2026-01-01T10:30:00.000Z","reason":"broken","detail":"host is gone"}]})";

http::Response Ok(std::string body) {
  return {.status = 200, .body = std::move(body), .headers = {}};
}

http::Response Refusal(int status, std::string body) {
  return {.status = status,
          .body = std::move(body),
          .content_type = "application/problem+json",
          .headers = {}};
}

std::vector<std::string> With(const ScriptedServer& server, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--server", server.url()});
  return arguments;
}

TEST(LeaseShow, ShowsALeaseToPeopleAndToPrograms) {
  const ScriptedServer server({Ok(Held())});
  const Ran ran = RunTenure(With(server, {"lease", "show", "a/b"}));
  EXPECT_EQ(ran.exit, kExitDone) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("state     held\nfence     7\nholder    host:12\n"));
  EXPECT_THAT(ran.out, HasSubstr("left      20s\n"));
  EXPECT_THAT(ran.out, HasSubstr("waiting   2\n"));
  EXPECT_EQ(RunTenure(With(server, {"lease", "show", "a/b", "--json"})).out, Held() + "\n");
  EXPECT_EQ(server.asked().front(), "GET /api/v1/leases/a%2Fb") << "a slash is part of the name";
}

TEST(LeaseShow, WhatCannotBeANameIsRefusedBeforeAnythingIsSent) {
  const ScriptedServer server({Ok(Held())});
  for (const char* command : {"show", "history"})
    EXPECT_EQ(RunTenure(With(server, {"lease", command, "a b"})).exit, kExitUsage);
  EXPECT_EQ(RunTenure(With(server, {"why", "lease", "../x y"})).exit, kExitUsage);
  EXPECT_THAT(server.asked(), ElementsAre());
}

TEST(LeaseShow, AnUnknownNameIsExitCode3AndAnAnswerThatIsNoneAnError) {
  const ScriptedServer unknown({Refusal(404, R"({"detail":"It was never granted."})")});
  EXPECT_EQ(RunTenure(With(unknown, {"lease", "show", "x"})).exit, kExitNotFound);
  for (const char* body : {"hello", "{}", R"({"name":1})"}) {
    const ScriptedServer strange({Ok(body)});
    const Ran ran = RunTenure(With(strange, {"lease", "show", "x"}));
    EXPECT_EQ(ran.exit, kExitError) << body;
    EXPECT_THAT(ran.err, HasSubstr("answer")) << body;
  }
}

TEST(LeaseShow, NothingThatAServerSaysReachesTheTerminalUnchecked) {
  const ScriptedServer server(
      {Ok(Held(R"(,"waiters":0,"metadata":{"a":"\u001b[2J"},"break_reason":"\u202e")"))});
  EXPECT_THAT(RunTenure(With(server, {"lease", "show", "x"})).out, Not(HasSubstr("\x1b")));
}

TEST(LeaseHistory, ShowsHowGrantsEnded) {
  const ScriptedServer server({Ok(kFree)});
  const Ran ran = RunTenure(With(server, {"lease", "history", "nightly"}));
  EXPECT_THAT(ran.out, HasSubstr("FENCE"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("7 .*30m 0s +broken +host:12 +host is gone\n"));
}

TEST(LeaseList, AsksForWhatTheFlagsSay) {
  const ScriptedServer server({Ok(R"({"items":[)" + Held() + R"(],"next_cursor":null})")});
  const Ran ran = RunTenure(
      With(server, {"lease", "list", "--prefix", "a/", "--holder", "me & you", "--state", "held"}));
  EXPECT_EQ(ran.exit, kExitDone) << ran.err;
  EXPECT_THAT(ran.out, testing::ContainsRegex("LEASE .*\nnightly +held "));
  EXPECT_THAT(server.asked(),
              ElementsAre("GET /api/v1/leases?limit=100&prefix=a%2F&holder=me%20%26%20you&state="
                          "held"));
  EXPECT_EQ(RunTenure(With(server, {"lease", "list", "--state", "stuck"})).exit, kExitUsage);
}

TEST(LeaseList, AllPagesAreOneDocument) {
  const ScriptedServer server({Ok(R"({"items":[)" + Held() + R"(],"next_cursor":"nightly"})"),
                               Ok(R"({"items":[],"next_cursor":null})")});
  const Ran ran = RunTenure(With(server, {"lease", "list", "--all", "--json"}));
  EXPECT_EQ(ran.out, R"({"items":[)" + Held() + "],\"next_cursor\":null}\n");
  EXPECT_THAT(server.asked().back(), HasSubstr("&cursor=nightly"));
}

TEST(LeaseBreak, BreaksTheGrantThatItSaw) {
  const ScriptedServer server({Ok(Held()), Ok("{}"), Ok(kBroken)});
  const Ran ran = RunTenure(
      With(server, {"lease", "break", "nightly", "--reason", "host is gone", "--drain", "30s"}));
  EXPECT_EQ(ran.exit, kExitDone) << ran.err;
  EXPECT_EQ(server.asked()[1],
            "POST /api/v1/leases/nightly/break "
            R"({"reason":"host is gone","fence":7,"drain_ms":30000})");
  EXPECT_EQ(ran.out,
            "the grant of host:12 (fence 7) is broken; nightly can be granted again in 20s, at "
            "2026-01-01T11:00:20.000Z\n");
}

TEST(LeaseBreak, WhatNobodyHoldsIsLeftAlone) {
  const ScriptedServer server({Ok(kFree)});
  const Ran ran = RunTenure(With(server, {"lease", "break", "nightly", "--reason", "r"}));
  EXPECT_EQ(ran.exit, kExitDone);
  EXPECT_THAT(ran.err, HasSubstr("nothing to break"));
  EXPECT_EQ(server.asked().size(), 1u);
}

TEST(LeaseBreak, AsksThePersonAtTheTerminal) {
  for (const char* typed : {"", "n\n", "perhaps\n"}) {
    const ScriptedServer server({Ok(Held())});
    const Ran ran = RunTenure(
        With(server, {"lease", "break", "nightly", "--reason", "r", "--force"}), true, typed);
    EXPECT_EQ(ran.exit, kExitError) << typed;
    EXPECT_THAT(ran.err, HasSubstr("held by host:12"));
    EXPECT_EQ(server.asked().size(), 1u) << "nothing but the look";
  }
  for (const auto& [typed, flag] :
       {std::pair{"y\n", "--force"}, std::pair{"yes\n", "--force"}, std::pair{"", "--yes"}}) {
    const ScriptedServer server({Ok(Held()), Ok("{}"), Ok(kFree)});
    const Ran ran =
        RunTenure(With(server, {"lease", "break", "nightly", "--reason", "r", flag}), true, typed);
    EXPECT_EQ(ran.exit, kExitDone) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("is over"));
  }
}

TEST(LeaseBreak, NeedsAReasonAndNotBothOfDrainAndForce) {
  const ScriptedServer server({Ok(Held())});
  EXPECT_EQ(RunTenure(With(server, {"lease", "break", "x"})).exit, kExitUsage);
  EXPECT_EQ(RunTenure(With(server, {"lease", "break", "x", "--reason", ""})).exit, kExitUsage);
  EXPECT_EQ(
      RunTenure(With(server, {"lease", "break", "x", "--reason", "r", "--drain", "soon"})).exit,
      kExitUsage);
  EXPECT_EQ(
      RunTenure(With(server, {"lease", "break", "x", "--reason", "r", "--drain", "1s", "--force"}))
          .exit,
      kExitUsage);
  EXPECT_THAT(server.asked(), ElementsAre());
}

TEST(WhyLease, SaysWhoHoldsItAndWhatComesNext) {
  const ScriptedServer held({Ok(Held())});
  EXPECT_EQ(RunTenure(With(held, {"why", "lease", "nightly"})).out,
            "nightly is held by host:12 since 2026-01-01T10:00:00.000Z (1h 0m ago), with fence 7, "
            "and was renewed 10s ago. 2 wait for it. Without a renewal it is free in 20s, and "
            "whoever waits longest gets it.\n");
  const ScriptedServer broken({Ok(kBroken)});
  EXPECT_EQ(RunTenure(With(broken, {"why", "lease", "nightly"})).out,
            "An operator broke the grant of host:12 (\"host is gone\"): it is not renewed any "
            "more. One waits for it. It can be granted again in 20s, at "
            "2026-01-01T11:00:20.000Z, or as soon as its holder releases it.\n");
  const ScriptedServer free({Ok(kFree)});
  EXPECT_EQ(RunTenure(With(free, {"why", "lease", "nightly"})).out,
            "nightly is free: whoever asks next gets it. Before, host:12 had it for 30m 0s and "
            "lost it to an operator (\"host is gone\") 30m 0s ago.\n");
}

TEST(LeaseRun, TheCommandStandsBehindTwoDashes) {
  EXPECT_EQ(RunTenure({"lease", "run", "x"}).exit, kExitUsage);
  EXPECT_THAT(RunTenure({"lease", "run", "x"}).err, HasSubstr("-- COMMAND… is missing"));
  EXPECT_EQ(RunTenure({"lease", "run", "x", "--"}).exit, kExitUsage);
  EXPECT_EQ(RunTenure({"lease", "run", "x", "true"}).exit, kExitUsage);
  EXPECT_THAT(RunTenure({"lease", "run", "x", "true"}).err, HasSubstr("one argument too many"));
  EXPECT_THAT(RunTenure({"lease", "run", "--", "true"}).err, HasSubstr("NAME is missing"));
  EXPECT_THAT(RunTenure({"lease", "run", "--help"}).out,
              HasSubstr("Usage: tenure lease run NAME [flags] -- COMMAND…"));
  EXPECT_EQ(RunTenure({"lease", "run", "x", "--ttl", "1ms", "--", "true"}).exit, kExitUsage);
  EXPECT_EQ(RunTenure({"lease", "run", "a b", "--", "true"}).exit, kExitUsage);
}

TEST(TaskCommands, ListTasksAndRunOne) {
  const ScriptedServer server(
      {Ok(R"({"items":[{"name":"expiry","interval_ms":600000,"next_run_at":)"
          R"("2026-01-01T11:10:00.000Z","last_run_at":null,"runs":3,"failures":0,"holder":null}],)"
          R"("next_cursor":null})"),
       {.status = 202, .body = R"({"under_way":false})", .headers = {}}});
  const Ran list = RunTenure(With(server, {"task", "list"}));
  EXPECT_EQ(list.exit, kExitDone) << list.err;
  EXPECT_THAT(list.out,
              testing::ContainsRegex("expiry  10m +2026-01-01T11:10:00.000Z  - +3 +0 +- +-\n"));
  const Ran run = RunTenure(With(server, {"task", "run", "expiry"}));
  EXPECT_EQ(run.exit, kExitDone);
  EXPECT_THAT(run.out, HasSubstr("expiry will run"));
  EXPECT_EQ(server.asked().back(), "POST /api/v1/tasks/expiry/run {}");
}

}  // namespace
}  // namespace tenure::app
