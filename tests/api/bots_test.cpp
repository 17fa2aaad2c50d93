// Files of bots and secrets of sources, by real servers: what counts where, and from when on.

#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>

#include "api/webhooks_fixture.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using testing::HasSubstr;

using BotFiles = Webhooks;
INSTANTIATE_TEST_SUITE_P(Stores, BotFiles, EachEngine(), EngineName);

TEST_P(BotFiles, ASecretIsRotatedUnderLoadAndAFileThatWasAwayComesBack) {
  const std::string next = github_.SecretFile("next");
  Apply(fmt::format(
      R"({{"sources":[{{"name":"github","secrets":[{{"file":"{}"}},{{"file":"{}"}}]}}],)"
      R"("bots":[]}})",
      github_.SecretFile(), next));
  const auto loaded = [&] {
    return api().Get("/api/v1/webhooks/sources").Json()["items"][0]["secrets_loaded"].Int();
  };
  const auto read_again = [&](std::int64_t count) {
    server_->process().Kill(SIGHUP);
    Eventually(fmt::format("{} secrets are read", count), [&] { return loaded() == count; });
  };
  EXPECT_EQ(loaded(), 1);
  std::atomic<bool> done = false;
  std::atomic<int> taken = 0;
  GitHub sender("github");  // what GitHub signs with
  sender.Rotate(github_.secret());
  std::mutex mutex;
  std::jthread load([&] {
    while (!done) {
      const std::lock_guard lock(mutex);
      const HttpResponse response = sender.Post(api(), {});
      EXPECT_EQ(response.status, 200) << response.body;
      ++taken;
    }
  });
  const auto goes_on = [&] {
    Eventually("it goes on", [&, from = taken.load()] { return taken > from + 5; });
  };
  support::ReplaceFile(next, "second");
  read_again(2);
  goes_on();
  {
    const std::lock_guard lock(mutex);
    sender.Rotate("second");
  }
  goes_on();
  std::filesystem::remove(github_.SecretFile());
  read_again(1);
  goes_on();
  done = true;
  load.join();
  std::filesystem::remove(next);
  read_again(0);
  EXPECT_EQ(sender.Post(api(), {}).status, 503);
  support::ReplaceFile(next, "second");
  read_again(1);
  EXPECT_EQ(sender.Post(api(), {}).status, 200);
}

/// The lane that reads secrets waited for a writer, and with it everybody who was routed.
TEST_P(BotFiles, ASecretThatIsAPipeHoldsUpNobody) {
  const std::string pipe = github_.SecretFile("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const HttpResponse applied = api().Call(
      "PUT", "/api/v1/bots",
      fmt::format(
          R"({{"sources":[{{"name":"github","secrets":[{{"file":"{}"}},{{"file":"{}"}}]}}],)"
          R"("bots":[]}})",
          pipe, github_.SecretFile()));
  ASSERT_EQ(applied.status, 200) << applied.body;
  EXPECT_THAT(applied.body, HasSubstr("1 of 2 can be read"));
  EXPECT_EQ(github_.Post(api(), {}).status, 200);
}

TEST_P(BotFiles, AFileWithMistakesIsRefusedWithAllOfThemAndNothingIsApplied) {
  const auto revision = [&] { return api().Get("/api/v1/bots").Json()["revision"].Int(); };
  const std::int64_t before = revision();
  const HttpResponse refused = api().Call(
      "PUT", "/api/v1/bots",
      R"({"sources":[{"name":"github"}],"bots":[{"name":"b","events":["issues.*"],)"
      R"("ordering_scope":"repositry","x":1},{"name":"c","events":["*.*.*"],"ordering_scope":"none"}]})");
  EXPECT_EQ(FieldsOf(refused),
            (Fields{"sources[0]", "bots[0].ordering_scope", "bots[0]", "bots[1].events[0]"}))
      << refused.body;
  EXPECT_EQ(revision(), before);
  const HttpResponse moved =
      api().Call("PUT", fmt::format("/api/v1/bots?revision={}", before + 7), github_.Bots(kBots));
  ExpectProblem(moved, 409);
  EXPECT_EQ(ProblemType(moved), "revision-moved");
  const HttpResponse dry = api().Call("PUT", "/api/v1/bots?dry_run=true", github_.Bots(""));
  EXPECT_EQ(dry.Json()["changes"].Size(), 2U);
  EXPECT_EQ(revision(), before);
}

/// From the answer to whoever applied it on: GitHub does not send again what was refused.
TEST_P(BotFiles, ASourceAndItsSecretsCountInEveryProcessOnceTheyAreApplied) {
  if (GetParam() == Engine::kSqlite) GTEST_SKIP() << "one process has a file";
  const auto second = store_.Serve(), third = store_.Serve();
  const support::ServerProcess* servers[] = {server_.get(), second.get(), third.get()};
  for (int round = 0; round < 3; ++round) {
    const GitHub fresh(fmt::format("s{}", round));
    const HttpResponse applied =
        Api(*servers[round % 3]).Call("PUT", "/api/v1/bots", fresh.Bots(kBots));
    ASSERT_EQ(applied.status, 200) << applied.body;
    for (const support::ServerProcess* server : servers)
      EXPECT_EQ(fresh.Post(Api(*server), {}).status, 200) << round;

    const std::string next = fresh.SecretFile("next");
    support::ReplaceFile(next, "next");
    GitHub rotated(fmt::format("s{}", round));
    rotated.Rotate("next");
    const auto with_secrets = [&](const std::string& places) {
      return fmt::format(R"({{"sources":[{{"name":"s{}","secrets":[{}]}}],"bots":[]}})", round,
                         places);
    };
    const std::string both =
        fmt::format(R"({{"file":"{}"}},{{"file":"{}"}})", next, fresh.SecretFile());
    Api(*servers[(round + 1) % 3]).Call("PUT", "/api/v1/bots", with_secrets(both));
    for (const support::ServerProcess* server : servers)
      EXPECT_EQ(rotated.Post(Api(*server), {}).status, 200) << round;
    Api(*servers[(round + 2) % 3])
        .Call("PUT", "/api/v1/bots", with_secrets(fmt::format(R"({{"file":"{}"}})", next)));
    for (const support::ServerProcess* server : servers)
      EXPECT_EQ(fresh.Post(Api(*server), {}).status, 401) << round;
  }
}

/// Files are applied one after another while deliveries come in: each has one bot, of a name and an
/// order of its own. So each event has one message, whichever file it met.
TEST_P(BotFiles, NoEventIsLostOrRoutedByTwoFilesWhileFilesChange) {
  constexpr int kSenders = 4, kFiles = 12;
  std::vector<std::unique_ptr<support::ServerProcess>> others;
  std::vector<int> ports{server_->Port()};
  if (GetParam() != Engine::kSqlite)
    for (int i = 0; i < 2; ++i) {
      others.push_back(store_.Serve());
      ports.push_back(others.back()->Port());
    }
  const auto apply = [&](int n) {
    const char* const scopes[] = {"entity", "none", "repository"};
    const HttpResponse applied = support::Call(
        ports[static_cast<std::size_t>(n) % ports.size()], "PUT", "/api/v1/bots",
        github_.Bots(fmt::format(R"({{"name":"b{}","events":["*"],"ordering_scope":"{}"}})", n % 5,
                                 scopes[n % 3])),
        {{"Content-Type", "application/json"}});
    EXPECT_EQ(applied.status, 200) << applied.body;
  };
  apply(0);
  std::atomic<int> sent = 0;
  std::atomic<bool> done = false;
  {
    std::vector<std::jthread> senders;
    for (int s = 0; s < kSenders; ++s)
      senders.emplace_back([&, s] {
        for (int n = 0; !done; ++n) {
          GitHub::Sent one;
          one.body = fmt::format(
              R"({{"issue":{{"number":{}}},"repository":{{"id":1,"full_name":"a/b"}}}})", s);
          const HttpResponse response =
              support::Call(ports[static_cast<std::size_t>(n) % ports.size()], "POST",
                            github_.Path(), one.body, github_.HeadersOf(one));
          EXPECT_EQ(response.status, 200) << response.body;
          EXPECT_EQ(response.Json()["messages"].Int(), 1);
          ++sent;
        }
      });
    for (int n = 1; n <= kFiles; ++n) {
      const int before = sent;
      Eventually("deliveries come in", [&] { return sent > before + kSenders; });
      apply(n);
    }
    done = true;
  }
  const std::string schema = GetParam() == Engine::kSqlite ? "" : "tenure.";
  const auto count = [&](const char* table) {
    return std::stoi(store_.Execute(fmt::format("select count(*) from {}{}", schema, table)));
  };
  EXPECT_EQ(count("webhook_events"), sent);
  EXPECT_EQ(count("queue_messages") + count("messages"), sent);
}

/// What each process does with a file that it is given: `queues.files`.
TEST_P(BotFiles, TheFirstProcessPutsItsFileInForceAndOneWithAnotherRefuses) {
  const support::TempDir folder;
  const auto write = [&](const std::string& name, const std::string& bots) {
    const std::string path = folder / name;
    support::ReplaceFile(
        path, "tenant: acme\nsources: [{name: ours, secrets: [{env: S}]}]\nbots:\n" + bots);
    return path;
  };
  const std::string file =
      write("bots.yaml", "  - {name: b, events: [push], ordering_scope: none}\n");
  Serve({"--set", "queues.files=" + file});
  EXPECT_EQ(api().Get("/api/v1/webhooks/sources").Json()["items"].Size(), 1U) << "of this tenant";
  EXPECT_EQ(api().Call("POST", "/webhooks/github/ours", "{}").status, 503) << "it is in force";
  Serve({"--set", "queues.files=" + file});
  server_.reset();
  const std::string other =
      write("other.yaml", "  - {name: b, events: [issues], ordering_scope: none}\n");
  std::vector<std::string> serve{"serve", "--listen", "127.0.0.1:0", "--set",
                                 "queues.files=" + other};
  for (const std::string& flag : store_.Flags()) serve.push_back(flag);
  const ProgramResult refused = RunTenure(serve);
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.err, HasSubstr("is not what is in force (revision 2):\n  b: it gets other "
                                     "events from the next one on"));
  Serve();
  EXPECT_EQ(api().Call("POST", "/webhooks/github/ours", "{}").status, 503)
      << "it takes the store's";
}

TEST_P(BotFiles, AConfigurationsFilesAreCheckedAndAppliedWithIt) {
  const support::TempDir folder;
  support::ReplaceFile(folder / "secret", "s");
  const auto write = [&](const std::string& bots) {
    support::ReplaceFile(folder / "bots.yaml",
                         "sources: [{name: github, secrets: [{file: secret}]}]\nbots:\n" + bots);
    support::ReplaceFile(folder / "tenure.yaml",
                         fmt::format("queues: {{files: [{}]}}\n", (folder / "bots.yaml").string()));
  };
  write(
      "  - {name: one, events: [push], ordering_scope: nobody}\n"
      "  - {name: one, events: [push], ordering_scope: none}\n");
  const ProgramResult checked = RunTenure({"config", "check", folder / "tenure.yaml"});
  EXPECT_EQ(checked.exit_code, 2);
  EXPECT_THAT(checked.err, HasSubstr("bots.yaml:3: bots[0] one: ordering_scope \"nobody\""));
  EXPECT_THAT(checked.err, HasSubstr("bots.yaml:4: bots[1] one: the name one is given twice"));

  write("  - {name: one, events: [push], ordering_scope: none}\n");
  if (GetParam() == Engine::kSqlite) server_.reset();  // it has the file
  const std::int64_t before = GetParam() == Engine::kSqlite ? 1 : Revision();
  std::vector<std::string> apply{"config", "apply", folder / "tenure.yaml"};
  for (const std::string& flag : store_.Flags()) apply.push_back(flag);
  const ProgramResult applied = RunTenure(apply);
  EXPECT_EQ(applied.exit_code, 0) << applied.err;
  EXPECT_THAT(applied.out, HasSubstr("one: its queue gets what commits from then on"));
  EXPECT_THAT(applied.out, HasSubstr(fmt::format("is in force (revision {}).", before + 1)));
  EXPECT_THAT(applied.out, HasSubstr("issues: its queue drains"));
  if (!server_) Serve();
  EXPECT_EQ(Revision(), before + 1);
  if (GetParam() == Engine::kSqlite) server_.reset();
  EXPECT_THAT(RunTenure(apply).out, HasSubstr(fmt::format("(revision {}).", before + 1)))
      << "the same again is none";
}

TEST_P(BotFiles, CheckSaysEverythingThatIsWrongInALineEachAndAppliesNothing) {
  const support::TempDir folder;
  const std::string file = folder / "bots.yaml";
  support::ReplaceFile(file,
                       "bots:\n"
                       "  - {name: one, events: [Issues], ordering_scope: none}\n"
                       "  - {name: two, events: [issues], ordering_scope: repositry}\n"
                       "  - {name: three, events: [issues], ordering_scope: entity, x: 1}\n");
  for (const char* command : {"check", "apply"}) {
    std::vector<std::string> arguments{"queue", command, file};
    if (command == std::string("apply"))
      arguments.insert(arguments.end(), {"--server", server_->Url()});
    const ProgramResult result = RunTenure(arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 3) << result.err;
    for (const char* line :
         {"bots.yaml:2: bots[0] one: events[0]", "bots.yaml:3: bots[1] two: ordering_scope",
          "bots.yaml:4: bots[2] three: \"x\""})
      EXPECT_THAT(result.err, HasSubstr(line));
  }
  EXPECT_EQ(api().Get("/api/v1/bots").Json()["revision"].Int(), 1);
}

TEST_P(BotFiles, AFileIsInForceInEveryProcessBeforeItsApplyIsAnswered) {
  if (GetParam() == Engine::kSqlite) GTEST_SKIP() << "one process has a file";
  const auto second = store_.Serve(), third = store_.Serve();
  int n = 0;
  for (const char* scope : {"none", "entity", "none"})
    for (const support::ServerProcess* server : {server_.get(), second.get(), third.get()}) {
      const Api here(*server);
      const std::string bot = fmt::format("b{}", ++n);
      EXPECT_EQ(
          here.Call("PUT", "/api/v1/bots",
                    github_.Bots(fmt::format(
                        R"({{"name":"{}","events":["*"],"ordering_scope":"{}"}})", bot, scope)))
              .status,
          200);
      for (const support::ServerProcess* other : {server_.get(), second.get(), third.get()}) {
        const GitHub::Sent sent;
        EXPECT_EQ(github_.Post(Api(*other), sent).Json()["messages"].Int(), 1);
      }
      // Its own three, and none of another revision's.
      const std::string counted =
          scope == std::string("none")
              ? fmt::format(
                    "select count(*) from tenure.messages join tenure.topics using "
                    "(topic_id) where name = 'queue:{}'",
                    bot)
              : fmt::format(
                    "select count(*) from tenure.queue_messages m join tenure.queue_sessions "
                    "s using (session_id) join tenure.queues q using (queue_id) where "
                    "q.name = '{}'",
                    bot);
      EXPECT_EQ(store_.Execute(counted), "3") << bot;
    }
}

}  // namespace
}  // namespace tenure::api
