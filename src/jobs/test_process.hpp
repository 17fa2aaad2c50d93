#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "jobs/jobs.hpp"
#include "jobs_sql/queries.hpp"
#include "messages_sql/queries.hpp"
#include "store/process.hpp"

namespace tenure::jobs {

/// Of both modules: a process prepares them.
inline std::vector<const db::Query*> QueriesOfJobs() {
  std::vector<const db::Query*> queries;
  for (const auto module : {sql::All(), messages::sql::All()})
    queries.insert(queries.end(), module.begin(), module.end());
  return queries;
}

/// A process with messages and jobs, driven by hand.
class TestProcess final : public store::Process {
 public:
  explicit TestProcess(store::TestStore& test_store, const std::string& id = "p",
                       const ChangeLimits& limits = {})
      : Process(test_store),
        messages_(store(), wake(), id, test_store.clock(), test_store.metrics()),
        jobs_(store(), messages_, wake(), limits, test_store.metrics()) {}

  static JobKey Key(const std::string& name) { return {"default", name}; }
  static Definition Of(const std::string& cron) {
    Definition definition;
    definition.topic = "t";
    definition.cron = cron;
    return definition;
  }
  JobOutcome Do(JobCommand command) { return Call(jobs_, &Jobs::Change, std::move(command)); }
  JobOutcome::Kind Put(const std::string& name, const Definition& definition,
                       Origin origin = Origin::kApi) {
    return Do(PutCommand{Key(name), definition, {}, origin}).kind;
  }
  FireReply Fire() { return Call(jobs_, &Jobs::Fire); }
  /// Until nothing is due.
  void FireAll() {
    while (Fire().has_more) {
    }
  }
  JobView Get(const std::string& name) {
    JobsRequest request;
    request.tenant = "default";
    request.name = name;
    auto page = Call(jobs_, &Jobs::List, std::move(request));
    EXPECT_EQ(page.rows.size(), 1u) << "no job " << name;
    return page.rows.empty() ? JobView() : page.rows.front();
  }
  std::vector<RunView> Runs(const std::string& name, std::optional<RunStatus> status = {}) {
    RunsRequest request;
    request.key = Key(name);
    request.status = status;
    return Call(jobs_, &Jobs::ListRuns, std::move(request)).rows;
  }

  std::vector<messages::ClaimedMessage> Claim(const std::string& topic = "t",
                                              std::int64_t max = 1'000) {
    messages::ClaimRequest request;
    request.tenant = "default";
    request.topics = {topic};
    request.max = max;
    request.owner = "somebody";
    return Call(messages_, &messages::Messages::Claim, std::move(request)).messages;
  }
  void Settle(messages::Disposition disposition, const messages::ClaimedMessage& message,
              const std::string& error = "", const std::string& output = "") {
    const auto result =
        Call(messages_, &messages::Messages::Settle,
             {"default", disposition, {{message.id, message.fence, error, {}, output}}, {}});
    EXPECT_EQ(result.reply.outcomes.front(), messages::SettleOutcome::kDone);
  }
  void Ack(const messages::ClaimedMessage& message, const std::string& output = "") {
    Settle(messages::Disposition::kDone, message, "", output);
  }

  Jobs& jobs() { return jobs_; }
  messages::Messages& messages() { return messages_; }

 private:
  messages::Messages messages_;
  Jobs jobs_;
};

}  // namespace tenure::jobs
