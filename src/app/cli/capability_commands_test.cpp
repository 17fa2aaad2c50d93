// The commands of leases, tasks, messages, usage and seats against a server that gives prepared answers.
#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/cli/commands.hpp"
#include "app/cli/test_support.hpp"
#include "cli/command.hpp"

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

TEST(LeaseShow, ShowsALeaseToPeopleAndToPrograms) {
  const ScriptedServer server({Ok(Held())});
  const Ran ran = server.Run({"lease", "show", "a/b"});
  EXPECT_EQ(ran.exit, cli::kExitDone) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("state     held\nfence     7\nholder    host:12\n"));
  EXPECT_THAT(ran.out, HasSubstr("left      20s\n"));
  EXPECT_THAT(ran.out, HasSubstr("waiting   2\n"));
  EXPECT_EQ(server.Run({"lease", "show", "a/b", "--json"}).out, Held() + "\n");
  EXPECT_EQ(server.asked().front(), "GET /api/v1/leases/a%2Fb") << "a slash is part of the name";
}

TEST(LeaseShow, WhatCannotBeANameIsRefusedBeforeAnythingIsSent) {
  const ScriptedServer server({Ok(Held())});
  for (const char* command : {"show", "history"})
    EXPECT_EQ(server.Run({"lease", command, "a b"}).exit, cli::kExitUsage);
  EXPECT_EQ(server.Run({"why", "lease", "../x y"}).exit, cli::kExitUsage);
  EXPECT_THAT(server.asked(), ElementsAre());
}

TEST(LeaseShow, AnUnknownNameIsExitCode3AndAnAnswerThatIsNoneAnError) {
  const ScriptedServer unknown({Refusal(404, R"({"detail":"It was never granted."})")});
  EXPECT_EQ(unknown.Run({"lease", "show", "x"}).exit, cli::kExitNotFound);
  for (const char* body : {"hello", "{}", R"({"name":1})"}) {
    const ScriptedServer strange({Ok(body)});
    const Ran ran = strange.Run({"lease", "show", "x"});
    EXPECT_EQ(ran.exit, cli::kExitError) << body;
    EXPECT_THAT(ran.err, HasSubstr("answer")) << body;
  }
}

TEST(LeaseShow, NothingThatAServerSaysReachesTheTerminalUnchecked) {
  const ScriptedServer server(
      {Ok(Held(R"(,"waiters":0,"metadata":{"a":"\u001b[2J"},"break_reason":"\u202e")"))});
  EXPECT_THAT(server.Run({"lease", "show", "x"}).out, Not(HasSubstr("\x1b")));
}

TEST(LeaseHistory, ShowsHowGrantsEnded) {
  const ScriptedServer server({Ok(kFree)});
  const Ran ran = server.Run({"lease", "history", "nightly"});
  EXPECT_THAT(ran.out, HasSubstr("FENCE"));
  EXPECT_THAT(ran.out, testing::ContainsRegex("7 .*30m 0s +broken +host:12 +host is gone\n"));
}

/// One thing of each list, as servers write it. What people write themselves (an error, a reason, a
/// detail) stands last and is short here: it may be as long as it likes.
TEST(EveryList, FitsAHundredColumns) {
  constexpr const char* kId = "01a1ee65-c132-77b5-9122-4c1b33244ca8";
  constexpr const char* kAt = "2026-01-01T10:00:00.000Z";
  const std::string times = fmt::format(
      R"("at":"{0}","asked_at":"{0}","died_at":"{0}","next_run_at":"{0}","last_run_at":"{0}",)"
      R"("windowStartUtc":"{0}","windowEndUtc":"{0}","sessionStartUtc":"{0}","sessionEndUtc":"{0}",)"
      R"("fromUtc":"{0}","oldest_at":"{0}","granted_at":"{0}","expires_at":"{0}","ended_at":"{0}",)"
      R"("received_at":"{0}")",
      kAt);
  const std::string ids = fmt::format(
      R"("id":"{0}","event_id":"{0}","sessionId":"{0}","userObjectId":"{0}","capacityId":"{0}","tenantObjectId":"{0}")",
      kId);
  const std::string body =
      R"({"items":[{"name":"sessions.retention","topic":"order-placed","state":"held",)" + times +
      "," + ids +
      R"(,"holder":"vm-12:490512:711cf8a0","fence":123456,"waiters":12,"ready":123456,)"
      R"("claimed":1234,"dead":123,"oldest_age_ms":86400000,"paused":true,)"
      R"("paused_reason":"down","reason":"attempts","attempts":20,"crashes":3,)"
      R"("last_error":"no mailbox","interval_ms":3600000,"runs":123456,"failures":3,)"
      R"("window":123456,"records":123456,"unsentRecords":1234,"refusedRecords":12,)"
      R"("sessionKind":2,"isActive":true,"usage":"0.000046","factor":"2.000000",)"
      R"("event":"pull_request","action":"opened","repository":"acme/shop",)"
      R"("queue":"review-bot","ordering_scope":"repository","messages":123456,)"
      R"("ready_sessions":12345,"held_sessions":12345,"parked_sessions":12345,)"
      R"("oldest_ready_ms":86400000,"depth":123456,"head":123456,"consumer":"vm-12:490512",)"
      R"("sequence":123456,"bytes":1048576,"death_reason":"max_delivery_count",)"
      R"("followers":123456,"error":"HTTP 503","active_at":"2026-01-01T10:00:00.000Z",)"
      R"("enqueued_at":"2026-01-01T10:00:00.000Z","died_at":"2026-01-01T10:00:00.000Z",)"
      R"("act":"message.redrive","object":"order-placed","person":"ann@example.com",)"
      R"("tenant":"acme","detail":{"n":1}}],"next_cursor":null,"nextCursor":null})";
  const ScriptedServer server({Ok(body)});
  int lists = 0;
  for (const cli::Command& command : AllCommands()) {
    const bool is_list =
        std::ranges::any_of(command.flags, [](const auto& f) { return f.name == "--limit"; }) ||
        command.words == "task list" || command.words == "usage factors";
    if (!is_list) continue;
    ++lists;
    std::vector<std::string> arguments;
    std::istringstream words{std::string(command.words)};
    for (std::string word; words >> word;) arguments.push_back(word);
    for (const cli::Flag& flag : command.flags)
      if (flag.kind == cli::Flag::Kind::kArgument)
        arguments.emplace_back(flag.name == "WINDOW" ? "1" : kId);
    const Ran ran = server.Run(arguments);
    ASSERT_EQ(ran.exit, cli::kExitDone) << command.words << ": " << ran.err;
    std::istringstream lines(ran.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << ran.out;
  }
  EXPECT_GE(lists, 8);
}

TEST(LeaseList, AsksForWhatTheFlagsSay) {
  const ScriptedServer server({Ok(R"({"items":[)" + Held() + R"(],"next_cursor":null})")});
  const Ran ran =
      server.Run({"lease", "list", "--prefix", "a/", "--holder", "me & you", "--state", "held"});
  EXPECT_EQ(ran.exit, cli::kExitDone) << ran.err;
  EXPECT_THAT(ran.out, testing::ContainsRegex("LEASE .*\nnightly +held "));
  EXPECT_THAT(server.asked(),
              ElementsAre("GET /api/v1/leases?limit=100&prefix=a%2F&holder=me%20%26%20you&state="
                          "held"));
  EXPECT_EQ(server.Run({"lease", "list", "--state", "stuck"}).exit, cli::kExitUsage);
}

TEST(LeaseList, AllPagesAreOneDocument) {
  const ScriptedServer server({Ok(R"({"items":[)" + Held() + R"(],"next_cursor":"nightly"})"),
                               Ok(R"({"items":[],"next_cursor":null})")});
  const Ran ran = server.Run({"lease", "list", "--all", "--json"});
  EXPECT_EQ(ran.out, R"({"items":[)" + Held() + "],\"next_cursor\":null}\n");
  EXPECT_THAT(server.asked().back(), HasSubstr("&cursor=nightly"));
}

TEST(LeaseBreak, BreaksTheGrantThatItSaw) {
  const ScriptedServer server({Ok(Held()), Ok("{}"), Ok(kBroken)});
  const Ran ran =
      server.Run({"lease", "break", "nightly", "--reason", "host is gone", "--drain", "30s"});
  EXPECT_EQ(ran.exit, cli::kExitDone) << ran.err;
  EXPECT_EQ(server.asked()[1],
            "POST /api/v1/leases/nightly/break "
            R"({"reason":"host is gone","fence":7,"drain_ms":30000})");
  EXPECT_EQ(ran.out,
            "the grant of host:12 (fence 7) is broken; nightly can be granted again in 20s, at "
            "2026-01-01T11:00:20.000Z\n");
}

TEST(LeaseBreak, WhatNobodyHoldsIsLeftAlone) {
  const ScriptedServer server({Ok(kFree)});
  const Ran ran = server.Run({"lease", "break", "nightly", "--reason", "r"});
  EXPECT_EQ(ran.exit, cli::kExitDone);
  EXPECT_THAT(ran.err, HasSubstr("nothing to break"));
  EXPECT_EQ(server.asked().size(), 1u);
}

TEST(LeaseBreak, AsksThePersonAtTheTerminal) {
  for (const char* typed : {"", "n\n", "perhaps\n"}) {
    const ScriptedServer server({Ok(Held())});
    const Ran ran =
        server.Run({"lease", "break", "nightly", "--reason", "r", "--force"}, true, typed);
    EXPECT_EQ(ran.exit, cli::kExitError) << typed;
    EXPECT_THAT(ran.err, HasSubstr("held by host:12"));
    EXPECT_EQ(server.asked().size(), 1u) << "nothing but the look";
  }
  for (const auto& [typed, flag] :
       {std::pair{"y\n", "--force"}, std::pair{"yes\n", "--force"}, std::pair{"", "--yes"}}) {
    const ScriptedServer server({Ok(Held()), Ok("{}"), Ok(kFree)});
    const Ran ran = server.Run({"lease", "break", "nightly", "--reason", "r", flag}, true, typed);
    EXPECT_EQ(ran.exit, cli::kExitDone) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("is over"));
  }
}

TEST(LeaseBreak, NeedsAReasonAndNotBothOfDrainAndForce) {
  const ScriptedServer server({Ok(Held())});
  EXPECT_EQ(server.Run({"lease", "break", "x"}).exit, cli::kExitUsage);
  EXPECT_EQ(server.Run({"lease", "break", "x", "--reason", ""}).exit, cli::kExitUsage);
  EXPECT_EQ(server.Run({"lease", "break", "x", "--reason", "r", "--drain", "soon"}).exit,
            cli::kExitUsage);
  EXPECT_EQ(server.Run({"lease", "break", "x", "--reason", "r", "--drain", "1s", "--force"}).exit,
            cli::kExitUsage);
  EXPECT_THAT(server.asked(), ElementsAre());
}

constexpr const char* kLicense = "0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81";
constexpr std::string_view kWhy =
    R"({"kind":"lease","id":"nightly","state":"held","sentence":"nightly is held.\u202e It waits.",)"
    R"("because":[],"next":{"text":"It is free in 20s.","at":"2026-01-01T11:00:20.000Z"},)"
    R"("actions":[],"docs":"docs/leases.md"})";

TEST(Why, PrintsTheServersSentenceAndWhatComesNext) {
  const std::pair<std::vector<std::string>, std::string> commands[] = {
      {{"why", "lease", "a/b"}, "lease/a%2Fb"},
      {{"why", "topic", "mail"}, "topic/mail"},
      {{"why", "job", "nightly"}, "job/nightly"},
      {{"why", "subscription", "billing"}, "subscription/billing"},
      {{"why", "message", kLicense}, std::string("message/") + kLicense},
      {{"why", "seat", kLicense}, std::string("seat/") + kLicense},
      {{"why", "license", kLicense}, std::string("license/") + kLicense},
  };
  for (const auto& [command, path] : commands) {
    const ScriptedServer server({Ok(std::string(kWhy)), Refusal(404, R"({"detail":"no"})")});
    const Ran ran = server.Run(command);
    EXPECT_EQ(ran.out, "nightly is held.? It waits.\nIt is free in 20s.\n") << path << ran.err;
    EXPECT_EQ(server.Run(command).exit, cli::kExitNotFound);
    EXPECT_EQ(server.asked().front(), "GET /api/v1/why/" + path);
  }
}

/// A lease that nobody holds; `more` are further fields.
std::string Free(std::string_view more) {
  return std::string(R"({"name":"nightly","state":"free","fence":7,)"
                     R"("ended_at":"2026-01-01T10:30:00.000Z",)"
                     R"("now":"2026-01-01T11:00:00.000Z","history":[])") +
         std::string(more) + "}";
}
constexpr std::string_view kGuard =
    R"(,"guard":{"pid":4711,"user":"app","since":"2026-01-01T10:59:48.000Z"})";
constexpr std::string_view kFrozen = R"(,"frozen_until":"2026-01-01T11:00:30.000Z")";

TEST(LeaseState, ShowAndListHaveTheSameReasonsInTheSameOrder) {
  const struct {
    std::string more;
    std::string state;
  } cases[] = {
      {R"(,"waiters":0)", "free"},
      {R"(,"waiters":0)" + std::string(kGuard), "guarded"},
      {R"(,"waiters":1)" + std::string(kGuard), "queued"},
      {R"(,"waiters":1)", "queued"},
      {R"(,"waiters":1)" + std::string(kGuard) + std::string(kFrozen), "frozen"},
  };
  for (const auto& each : cases) {
    const ScriptedServer one({Ok(Free(each.more))});
    const Ran shown = one.Run({"lease", "show", "nightly"});
    EXPECT_THAT(shown.out, HasSubstr("state     " + each.state + "\n"));
    EXPECT_EQ(
        shown.out.find("guard     process 4711 of user app, begun 12s ago\n") != std::string::npos,
        each.more.find("guard") != std::string::npos)
        << shown.out;
    const ScriptedServer all({Ok(R"({"items":[)" + Free(each.more) + R"(],"next_cursor":null})")});
    EXPECT_THAT(all.Run({"lease", "list"}).out,
                testing::ContainsRegex("nightly +" + each.state + " "));
  }
}

std::string Topic(std::string_view name, std::string_view more) {
  return fmt::format(R"({{"name":"{}","claimed":1,"asked_at":null,"settings":{{}}{}}})", name,
                     more);
}

constexpr std::string_view kHealth =
    R"({"status":"ok","version":"0.1.0","store":{"status":"ok","place":"here",)"
    R"("warnings":["frozen","clock-step"]},"background":[{"name":"gauges","status":"ok"}],)"
    R"("tasks":[{"name":"usage.windows","status":"failed"}]})";

TEST(Status, NamesTheTopicsThatTheFiguresAreOf) {
  const ScriptedServer server(
      {Ok(std::string(kHealth)),
       Ok(R"({"items":[)" +
          Topic("a", R"(,"ready":1,"dead":0,"oldest_at":"2026-01-01T10:00:00.000Z",)"
                     R"("oldest_age_ms":1000,"paused":false)") +
          R"(],"next_cursor":"a"})"),
       Ok(R"({"items":[)" +
          Topic("orders", R"(,"ready":1,"dead":7,"oldest_at":"2026-01-01T10:00:00.000Z",)"
                          R"("oldest_age_ms":185000,"paused":false)") +
          R"(],"next_cursor":null})")});
  const Ran ran = server.Run({"status"});
  EXPECT_EQ(ran.exit, cli::kExitAttention) << ran.err;
  EXPECT_EQ(ran.out,
            "server    ok, version 0.1.0\n"
            "store     ok, here\n"
            "warnings  frozen, clock-step\n"
            "failing   usage.windows\n"
            "oldest    a message of topic orders has been ready for 3m 5s: `tenure why topic "
            "orders`\n"
            "dead      7 of topic orders: `tenure message dead --topic orders`\n");
  EXPECT_THAT(server.asked(), ElementsAre("GET /health", "GET /api/v1/topics?limit=500",
                                          "GET /api/v1/topics?limit=500&cursor=a"));
}

TEST(Status, AServerThatIsNotReadyIsExitCode5AndWhoMaySeeNoTopicsSeesTheRest) {
  http::Response down =
      Ok(R"({"status":"unavailable","version":"1","store":{"status":"unavailable","place":"x"},)"
         R"("background":[],"tasks":[]})");
  down.status = 503;
  const ScriptedServer unready({down});
  const Ran ran = unready.Run({"status"});
  EXPECT_EQ(ran.exit, cli::kExitUnavailable);
  EXPECT_THAT(ran.out, HasSubstr("store     unavailable, x\n"));
  const ScriptedServer guarded({Ok(std::string(kHealth)), Refusal(403, R"({"detail":"No."})")});
  EXPECT_EQ(guarded.Run({"status"}).exit, cli::kExitAttention);
  const ScriptedServer closed({Refusal(403, R"({"detail":"It lacks the scope ops:read."})")});
  EXPECT_THAT(closed.Run({"status"}).err, HasSubstr("ops:read"));
}

TEST(LeaseRun, TheCommandStandsBehindTwoDashes) {
  EXPECT_EQ(RunTenure({"lease", "run", "x"}).exit, cli::kExitUsage);
  EXPECT_THAT(RunTenure({"lease", "run", "x"}).err, HasSubstr("-- COMMAND… is missing"));
  EXPECT_EQ(RunTenure({"lease", "run", "x", "--"}).exit, cli::kExitUsage);
  EXPECT_EQ(RunTenure({"lease", "run", "x", "true"}).exit, cli::kExitUsage);
  EXPECT_THAT(RunTenure({"lease", "run", "x", "true"}).err, HasSubstr("one argument too many"));
  EXPECT_THAT(RunTenure({"lease", "run", "--", "true"}).err, HasSubstr("NAME is missing"));
  EXPECT_THAT(RunTenure({"lease", "run", "--help"}).out,
              HasSubstr("Usage: tenure lease run NAME [flags] -- COMMAND…"));
  EXPECT_EQ(RunTenure({"lease", "run", "x", "--ttl", "1ms", "--", "true"}).exit, cli::kExitUsage);
  EXPECT_EQ(RunTenure({"lease", "run", "a b", "--", "true"}).exit, cli::kExitUsage);
}

TEST(TaskCommands, ListTasksAndRunOne) {
  const ScriptedServer server(
      {Ok(R"({"items":[{"name":"expiry","interval_ms":600000,"next_run_at":)"
          R"("2026-01-01T11:10:00.000Z","last_run_at":null,"runs":3,"failures":0,"holder":null}],)"
          R"("next_cursor":null})"),
       {.status = 202, .body = R"({"under_way":false})", .headers = {}}});
  const Ran list = server.Run({"task", "list"});
  EXPECT_EQ(list.exit, cli::kExitDone) << list.err;
  EXPECT_THAT(list.out, testing::ContainsRegex("expiry  10m +in [0-9a-z]+ +- +3 +0 +- +-\n"));
  const Ran run = server.Run({"task", "run", "expiry"});
  EXPECT_EQ(run.exit, cli::kExitDone);
  EXPECT_THAT(run.out, HasSubstr("expiry will run"));
  EXPECT_EQ(server.asked().back(), "POST /api/v1/tasks/expiry/run {}");
}

constexpr const char* kOne = "0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81";
constexpr const char* kTwo = "0197c1f2-8a34-7d10-9b55-3f0c2e6a7d82";

TEST(MessageRedrive, TakesIdsAsShowDoes) {
  const ScriptedServer server({Ok(R"({"found":2,"has_more":false})")});
  const Ran ran = server.Run({"message", "redrive", kOne, kTwo});
  EXPECT_EQ(ran.out, "2 dead letters redriven\n") << ran.err;
  server.Run({"message", "redrive", "--id", kOne, "--id", kTwo});
  const std::string asked = std::string(R"(POST /api/v1/dead-letters/redrive {"ids":[")") + kOne +
                            R"(",")" + kTwo + R"("]})";
  EXPECT_THAT(server.asked(), ElementsAre(asked, asked));
}

/// Why somebody acts goes where the act's route has it.
TEST(EveryAct, TakesAReason) {
  const ScriptedServer server({Ok(R"({"found":1,"has_more":false})")});
  server.Run({"message", "discard", kOne, "--because", "a test"});
  server.Run({"session", "end", kOne, "--reason", "a test"});
  server.Run({"topic", "resume", "mail", "--reason", "a test"});
  server.Run({"task", "run", "tidy", "--reason", "a test"});
  EXPECT_THAT(server.asked(),
              ElementsAre(std::string(R"(POST /api/v1/dead-letters/discard {"ids":[")") + kOne +
                              R"("],"because":"a test"})",
                          std::string("DELETE /sessions/") + kOne + "?reason=a%20test",
                          R"(PATCH /api/v1/topics/mail {"paused":false,"reason":"a test"})",
                          R"(POST /api/v1/tasks/tidy/run {"reason":"a test"})"));
}

TEST(MessageRedrive, AnIdGoesWithoutAFilter) {
  const ScriptedServer server({Ok(R"({"found":1,"has_more":false})")});
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"message", "redrive", kOne, "--topic", "t"},
        {"message", "discard", "--id", kOne, "--reason", "failed"},
        {"message", "redrive", "not-an-id"}})
    EXPECT_EQ(RunTenure(arguments).exit, cli::kExitUsage);
  EXPECT_THAT(server.Run({"message", "discard"}).err, HasSubstr("must say which"));
  EXPECT_THAT(server.asked(), ElementsAre());
}

constexpr const char* kSession = "0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071";
constexpr const char* kUser = "6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30";
constexpr const char* kTenant = "0b7e4d11-93c5-4f6a-8a77-2c9d5e3f1b08";
constexpr const char* kCapacity = "d4a1f7c3-5b20-4e8d-b6f9-1a3c7e9d5b42";

constexpr const char* kWindows =
    R"({"items":[{"window":1,"windowStartUtc":"2026-01-01T00:00:00.000Z",)"
    R"("windowEndUtc":"2026-01-01T00:01:00.000Z","sealedUtc":"2026-01-01T00:01:02.000Z",)"
    R"("state":"sent","records":1,"unsentRecords":0,"refusedRecords":0}],"nextCursor":null})";

std::string Records(std::string_view usage) {
  return fmt::format(
      R"({{"items":[{{"recordId":"1-{0}","sessionId":"{0}","userObjectId":"{1}",)"
      R"("tenantObjectId":"{2}","capacityId":"{3}","sessionKind":1,)"
      R"("windowStartUtc":"2026-01-01T00:00:00.000Z",)"
      R"("windowEndUtc":"2026-01-01T00:01:00.000Z","usage":{4}}}],"nextCursor":null}})",
      kSession, kUser, kTenant, kCapacity, usage);
}

std::string Sessions() {
  return fmt::format(
      R"({{"items":[{{"sessionId":"{}","userObjectId":"{}","tenantObjectId":"{}",)"
      R"("capacityId":"{}","sessionKind":1,"sessionStartUtc":"2026-01-01T00:00:00.000Z",)"
      R"("sessionEndUtc":"2026-01-31T00:00:00.000Z","isActive":true}}],"nextCursor":null}})",
      kSession, kUser, kTenant, kCapacity);
}

constexpr const char* kFactors =
    R"({"items":[{"sessionKind":1,"factor":"1.000000","fromUtc":"1970-01-01T00:00:00.000Z"}],)"
    R"("nextCursor":null})";

TEST(UsageCommands, WindowsAreATable) {
  const ScriptedServer server({Ok(kWindows)});
  const Ran ran = server.Run({"usage", "windows"});
  EXPECT_EQ(ran.exit, cli::kExitDone) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("WINDOW"));
  EXPECT_THAT(ran.out, HasSubstr("1         2026-01-01T00:00:00.000Z"));
  EXPECT_THAT(server.asked(), ElementsAre("GET /usage/windows?limit=100"));
}

TEST(UsageCommands, NumbersKeepTheDigitsThatTheServerWrote) {
  const ScriptedServer server({Ok(Records("0.000023"))});
  EXPECT_THAT(server.Run({"usage", "records", "1", "--user", kUser}).out, HasSubstr("0.000023"));
  EXPECT_THAT(server.Run({"usage", "records", "1", "--json"}).out,
              HasSubstr("\"usage\":0.000023}"));
  EXPECT_EQ(server.asked().front(),
            fmt::format("GET /usage/windows/1/records?limit=100&userObjectId={}", kUser));
}

TEST(UsageCommands, TotalsAreAskedForInSpans) {
  const ScriptedServer server({Ok(
      R"({"fromWindow":2,"toWindow":9,"fromUtc":"2026-01-01T00:00:00.000Z",)"
      R"("toUtc":"2026-01-01T00:09:00.000Z","sessions":3,"usage":12.300000,"complete":false})")});
  const Ran ran =
      server.Run({"usage", "totals", "--capacity", kCapacity, "--from", "2", "--to", "9"});
  EXPECT_THAT(ran.out, HasSubstr("usage         12.300000\n"));
  EXPECT_THAT(ran.out, HasSubstr("incomplete"));
  EXPECT_THAT(server.asked(),
              ElementsAre(fmt::format("GET /usage/totals?capacityId={}&fromWindow=2&toWindow=9",
                                      kCapacity)));
  server.Run({"usage", "totals"});
  EXPECT_EQ(server.asked().back(), "GET /usage/totals");
}

TEST(UsageCommands, FactorsAreShownAndSet) {
  const ScriptedServer list({Ok(kFactors)});
  EXPECT_THAT(list.Run({"usage", "factors"}).out, HasSubstr("1 Basic     1.000000"));
  const ScriptedServer set(
      {Ok(R"({"sessionKind":2,"factor":"2.500000","fromUtc":"2026-01-01T00:01:00.000Z"})")});
  const Ran ran = set.Run({"usage", "factors", "set", "standard", "2.5"});
  EXPECT_EQ(ran.out, "2 Standard costs 2.500000 from 2026-01-01T00:01:00.000Z on\n");
  EXPECT_THAT(set.asked(),
              ElementsAre(R"(POST /usage/factors {"sessionKind":2,"factor":"2.500000"})"));
  EXPECT_EQ(set.Run({"usage", "factors", "set", "4", "1"}).exit, cli::kExitUsage);
  EXPECT_EQ(set.Run({"usage", "factors", "set", "1", "1e3"}).exit, cli::kExitUsage);
}

TEST(UsageCommands, OlderWindowsAreSent) {
  const ScriptedServer server({Ok(R"({"windows":16})")});
  EXPECT_THAT(server.Run({"usage", "send", "--from", "1"}).out,
              HasSubstr("16 windows will be sent"));
  EXPECT_THAT(server.asked(), ElementsAre(R"(POST /usage/send {"fromWindow":1})"));
  for (const char* number : {"0", "-1", "x", "9007199254740992", "1.0"})
    EXPECT_EQ(server.Run({"usage", "send", "--from", number}).exit, cli::kExitUsage) << number;
}

TEST(UsageCommands, TheAuditAgreesOrNamesTheDifference) {
  const ScriptedServer right({Ok(kWindows), Ok(kFactors), Ok(Sessions()), Ok(Records("0.000023"))});
  const Ran agreed = right.Run({"usage", "audit"});
  EXPECT_EQ(agreed.exit, cli::kExitDone) << agreed.err;
  EXPECT_THAT(agreed.out, HasSubstr("usage         0.000023\ndifferences   0\n"));
  const ScriptedServer wrong({Ok(kWindows), Ok(kFactors), Ok(Sessions()), Ok(Records("0.000024"))});
  const Ran differed = wrong.Run({"usage", "audit", "--json"});
  EXPECT_EQ(differed.exit, cli::kExitError);
  EXPECT_THAT(differed.out, HasSubstr(R"("differenceCount":2,"differences":["record 1-)"));
}

TEST(UsageCommands, AnAuditOfWhatIsNoUsageIsAnError) {
  const ScriptedServer server({Ok(kWindows), Ok(kFactors), Ok(Sessions()), Ok(Records("2.4e-05"))});
  const Ran ran = server.Run({"usage", "audit"});
  EXPECT_EQ(ran.exit, cli::kExitError);
  EXPECT_THAT(ran.err, HasSubstr("records[0].usage"));
  EXPECT_EQ(server.Run({"usage", "audit", "--sink", "http://10.0.0.1:9090"}).exit, cli::kExitUsage);
}

const std::string kLicenseJson =
    R"({"id":"0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81","organization":"acme","name":"Editor",)"
    R"("key_hint":"7KQ2","seats":3,"seats_used":2,"seats_offered":1,"seats_remaining":1,)"
    R"("draining":false,"waiting":4,"state":"active","revision":1})";

TEST(LicenseCommands, DurationsAreSentAsSecondsAndAKeyComesFromAFile) {
  const ScriptedServer server({Ok(kLicenseJson)});
  const Ran ran = server.Run({"license", "create", "--seats", "3", "--ttl", "6m", "--grace", "1h"});
  EXPECT_EQ(ran.exit, cli::kExitDone) << ran.err;
  EXPECT_THAT(
      server.asked(),
      ElementsAre(R"(POST /api/v1/licenses {"seats":3,"ttl_seconds":360,"grace_seconds":3600})"));
  for (const char* ttl : {"1s", "1500ms", "25h", "soon"})
    EXPECT_EQ(server.Run({"license", "create", "--seats", "3", "--ttl", ttl}).exit, cli::kExitUsage)
        << ttl;
  EXPECT_EQ(server.Run({"license", "create", "--seats", "3", "--key", "@/no/such/file"}).exit,
            cli::kExitError);
}

TEST(LicenseCommands, SuspendAndResumeAreChanges) {
  const ScriptedServer server({Ok(kLicenseJson), Ok(kLicenseJson)});
  EXPECT_THAT(server.Run({"license", "suspend", kLicense}).out, HasSubstr("is active"));
  server.Run({"license", "resume", kLicense});
  const std::string path = std::string("PATCH /api/v1/licenses/") + kLicense;
  EXPECT_THAT(server.asked(),
              ElementsAre(path + R"( {"suspended":true})", path + R"( {"suspended":false})"));
}

}  // namespace
}  // namespace tenure::app
