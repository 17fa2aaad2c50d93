// Jobs by a real server: what is refused and how, the configuration file, and what commands say.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
#include "support/temp_dir.hpp"
#include "support/tls.hpp"

namespace tenure::api {
namespace {

using support::HttpResponse;
using support::Json;
using testing::HasSubstr;

constexpr const char* kJobs = "/api/v1/jobs/";

/// "cron@2": the field that a refusal names, with its position.
std::string Named(const HttpResponse& response) {
  const Json error = response.Json()["errors"][0];
  std::string named = error["field"].Text();
  if (error.Has("position")) named += "@" + std::to_string(error["position"].Int());
  return named;
}

class JobsOfServer : public testing::TestWithParam<Engine> {
 protected:
  std::string File(const std::string& text) {
    const auto path = folder_ / "tenure.yaml";
    support::ReplaceFile(path, text);
    return path.string();
  }
  ProgramResult Apply(const std::string& file) const {
    std::vector<std::string> words{"config", "apply", file};
    for (const std::string& flag : store_.Flags()) words.push_back(flag);
    return RunTenure(std::move(words));
  }

  const support::TempDir folder_;
  StoreUnderTest store_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Stores, JobsOfServer, EachEngine(), EngineName);

TEST_P(JobsOfServer, WhatCannotBeMeantIs422WithItsFieldAndPlace) {
  const Api api(SharedServer(GetParam()));
  const auto put = [&](const std::string& fields, const std::string& name = "bad") {
    return api.Call("PUT", kJobs + name, R"({"topic":"t",)" + fields + "}");
  };
  const std::pair<std::string, std::string> cases[] = {
      {R"("cron":"0 25 * * *")", "cron@2"},
      {R"("cron":"0 0 30 2 *")", "cron@4"},
      {R"("cron":"")", "cron@0"},
      {R"("cron":"@reboot")", "cron@0"},
      {R"("cron":"0 3 * * *","time_zone":"Europe/Berln")", "time_zone"},
      {R"("cron":"0 3 * * *","every":"5s")", "every"},
      {R"("priority":3)", "cron"},
      {R"("every":"10ms")", "every"},
      {R"("every":"1h","starts_at":"2026-01-02T00:00:00Z","ends_at":"2026-01-01T00:00:00Z")",
       "ends_at"},
      {R"("every":"1h","headers":{"tenure-run":"x"})", "headers"},
      {R"("every":"1h","payload":")" + std::string(1 << 20, 'x') + "\"", "payload"},
  };
  for (const auto& [fields, named] : cases) {
    const HttpResponse response = put(fields);
    EXPECT_EQ(response.status, 422) << fields.substr(0, 80);
    EXPECT_EQ(Named(response), named) << fields.substr(0, 80);
  }
  EXPECT_EQ(Named(put(R"("every":"1h")", std::string(101, 'n'))), "name");
  EXPECT_EQ(put(R"("every":"1h")", "a%20b").status, 422);
  EXPECT_EQ(put(R"("every":7)").status, 400);
  EXPECT_EQ(put(R"("every":"1h","no_such_field":1)").status, 400);
  EXPECT_EQ(api.Get(kJobs + std::string("bad")).status, 404);
  const auto preview = api.Call("POST", "/api/v1/jobs/preview", R"({"cron":"0 3 32 * *"})");
  EXPECT_EQ(preview.status, 422);
  EXPECT_EQ(Named(preview), "cron@4");
}

TEST_P(JobsOfServer, CommandsPassEachPolicyOn) {
  const auto server = store_.Serve();
  const auto run = [&](std::vector<std::string> words) {
    return RunTenure(std::move(words), {{"TENURE_SERVER", server->Url()}});
  };
  const auto put = run({"job", "put", "nightly", "--topic", "t", "--cron", "30 2 * * *", "--zone",
                        "Europe/Berlin", "--missed", "all", "--overlap", "queue_one", "--gap",
                        "skip", "--repeat", "both"});
  EXPECT_EQ(put.exit_code, 0) << put.err;
  const Json job = Api(*server).Get(kJobs + std::string("nightly")).Json();
  for (const auto& [field, word] : {std::pair{"missed", "all"}, std::pair{"overlap", "queue_one"},
                                    std::pair{"gap", "skip"}, std::pair{"repeat", "both"}})
    EXPECT_EQ(job[field].Text(), word);
  EXPECT_THAT(put.out, HasSubstr("nightly runs next at "));
  EXPECT_EQ(run({"job", "pause", "nightly", "--reason", "a deployment"}).exit_code, 0);
  const std::vector<std::string> other{"job", "put",    "nightly",   "--topic",
                                       "t",   "--cron", "30 3 * * *"};
  EXPECT_EQ(run(other).out, "nightly is paused: `tenure job resume nightly` ends that\n");
  EXPECT_EQ(run({"job", "resume", "nightly"}).exit_code, 0);
  EXPECT_THAT(run({"job", "put", "bad", "--topic", "t", "--cron", "0 25 * * *"}).err,
              HasSubstr("cron: expected an hour from 0 to 23 (at character 2)"));
  EXPECT_EQ(run({"job", "trigger", "nightly"}).exit_code, 0);
  EXPECT_THAT(run({"job", "runs", "nightly", "--status", "ready"}).out, HasSubstr("trigger"));
  const auto refused = run({"job", "runs", "nightly", "--status", "asleep"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("retrying, done, dead or skipped"));
}

TEST_P(JobsOfServer, ARunThatIsRetriedForAnHourHoldsBackTheNextOneAndWhySaysWhichAndUntilWhen) {
  const auto server = store_.Serve();
  const Api api(*server);
  const auto why = [&] {
    return RunTenure({"why", "job", "poll"}, {{"TENURE_SERVER", server->Url()}}).out;
  };
  const std::string job = kJobs + std::string("poll");
  ASSERT_EQ(api.Call("PUT", job, R"({"topic":"polls","every":"1s"})").status, 201);
  const Json claimed =
      api.Call("POST", "/api/v1/messages/claim",
               R"({"topics":["polls"],"owner":"somebody","max":1,"wait_ms":20000})")
          .Json()["messages"][0];
  const std::string run = claimed["id"].Text();
  const std::string nominal = claimed["headers"]["tenure-nominal-time"].Text();
  const auto last = [&] { return api.Get(job + "/runs?limit=1").Json()["items"][0]; };
  const auto is_held_back = [&] {
    const Json latest = last();
    return latest["status"].Text() == "skipped" && latest["blocked_by"].Text() == run;
  };
  Eventually("the next one is left out", is_held_back);
  EXPECT_THAT(why(), HasSubstr("was skipped because that of " + nominal +
                               " is still claimed by somebody until "));

  EXPECT_EQ(api.Call("POST", "/api/v1/messages/abandon",
                     R"({"claims":[{"id":")" + run + R"(","fence":)" +
                         std::to_string(claimed["fence"].Int()) +
                         R"(,"error":"the bank is closed","retry_after_ms":3600000}]})")
                .status,
            200);
  const std::string before = last()["run_id"].Text();
  Eventually("further ones are left out",
             [&] { return is_held_back() && last()["run_id"].Text() != before; });
  const Json retried = api.Get(job + "/runs?status=retrying").Json()["items"][0];
  EXPECT_EQ(retried["run_id"].Text(), run);
  EXPECT_GT(TimeMs(retried["retry_at"].Text()), WallMs() + 3'500'000);
  EXPECT_THAT(why(), HasSubstr("was skipped because that of " + nominal + " is tried again at " +
                               retried["retry_at"].Text() + " (\"the bank is closed\")."));
}

TEST_P(JobsOfServer, TheFileMakesChangesAndRemovesItsJobs) {
  const std::string first = File(
      "jobs:\n"
      "  - {name: nightly, topic: reports, cron: '30 2 * * *', time_zone: Europe/Berlin}\n"
      "  - name: poll\n"
      "    topic: polls\n"
      "    every: 90s\n"
      "    payload: {source: 7}\n");
  {
    const auto server = store_.Serve({"--config", first});
    const Api api(*server);
    const Json poll = api.Get(kJobs + std::string("poll")).Json();
    EXPECT_EQ(poll["managed_by"].Text(), "file");
    EXPECT_EQ(poll["payload"]["source"].Int(), 7);
    EXPECT_EQ(poll["revision"].Int(), 1);
    const auto put = api.Call("PUT", kJobs + std::string("poll"), R"({"topic":"t","every":"1h"})");
    EXPECT_EQ(put.status, 409);
    EXPECT_EQ(ProblemType(put), "job-of-file");
    EXPECT_EQ(api.Call("DELETE", kJobs + std::string("nightly")).status, 409);
    EXPECT_EQ(api.Call("POST", kJobs + std::string("poll/trigger"), "{}").status, 201);
    EXPECT_EQ(api.Call("POST", kJobs + std::string("poll/pause"), "{}").status, 200);
    EXPECT_EQ(api.Call("PUT", kJobs + std::string("own"), R"({"topic":"t","every":"1h"})").status,
              201);
  }
  // The embedded store is its process's alone.
  EXPECT_THAT(Apply(first).out, HasSubstr("The jobs are those of the file already."));
  const std::string second = File("jobs:\n  - {name: poll, topic: polls, every: 2m}\n");
  const ProgramResult applied = Apply(second);
  EXPECT_EQ(applied.exit_code, 0) << applied.err;
  EXPECT_THAT(applied.out, HasSubstr("Changed job poll."));
  EXPECT_THAT(applied.out, HasSubstr("Removed job nightly"));
  {
    const auto server = store_.Serve({"--config", File("log:\n  level: info\n")});
    const Api api(*server);
    EXPECT_EQ(api.Get(kJobs + std::string("nightly")).status, 404);
    const Json poll = api.Get(kJobs + std::string("poll")).Json();
    EXPECT_EQ(poll["every"].Text(), "2m");
    EXPECT_FALSE(poll["paused"].IsNull()) << "a pause is the operator's";
    EXPECT_EQ(api.Get(kJobs + std::string("own")).status, 200) << "it was put";
    const std::string acts = RunTenure({"audit", "list", "--json", "--server", server->Url()}).out;
    EXPECT_THAT(acts, HasSubstr("configuration file"));
  }
}

TEST(JobsInAFile, ACheckNamesTheLineAndTheField) {
  const support::TempDir folder;
  const auto path = folder / "tenure.yaml";
  const auto check = [&](const std::string& text) {
    support::ReplaceFile(path, text);
    return RunTenure({"config", "check", path.string()});
  };
  const ProgramResult wrong = check(
      "jobs:\n"
      "  - name: nightly\n"
      "    topic: reports\n"
      "    cron: '0 25 * * *'\n"
      "  - name: poll\n"
      "    every: 90s\n"
      "    priority: high\n"
      "  - {name: nightly, topic: t, every: 1h, tine_zone: UTC}\n");
  EXPECT_EQ(wrong.exit_code, 2) << wrong.out;
  const std::string at = path.string() + ":";
  EXPECT_THAT(wrong.err, HasSubstr(at + "4: jobs: cron "));
  EXPECT_THAT(wrong.err, HasSubstr("(at character 2)"));
  EXPECT_THAT(wrong.err, HasSubstr(at + "5: jobs: topic "));
  EXPECT_THAT(wrong.err, HasSubstr(at + "7: jobs: priority "));
  EXPECT_THAT(wrong.err, HasSubstr(at + "8: jobs: tine_zone "));
  const ProgramResult right =
      check("jobs:\n  - {name: a, topic: t, every: 1h}\n  - {name: b, topic: t, every: 1h}\n");
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_THAT(right.out, HasSubstr("2 jobs, all right"));
}

}  // namespace
}  // namespace tenure::api
