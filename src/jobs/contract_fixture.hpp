#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time_text.hpp"
#include "jobs/test_process.hpp"

namespace tenure::jobs {

using Kind = JobOutcome::Kind;

inline constexpr std::int64_t kHour = 3'600'000;
inline constexpr std::int64_t kDay = 24 * kHour;

// The tests begin at 2025-12-21T10:30:00Z.
class JobsContract : public testing::TestWithParam<store::EngineKind> {
 protected:
  JobsContract() { clock().Advance(kHour / 2); }

  base::ManualClock& clock() { return store_.clock(); }
  /// To the next full hour, and what is due then.
  void PassHour() {
    clock().Advance(kHour - clock().WallMs() % kHour);
    a_.FireAll();
  }
  /// What the runs of a job are, the latest first: "12:00 ready".
  std::vector<std::string> Runs(const std::string& name) {
    std::vector<std::string> texts;
    for (const RunView& run : a_.Runs(name))
      texts.push_back(base::UtcText(run.nominal_ms).substr(11, 5) + " " +
                      std::string(ToText(run.status)));
    return texts;
  }
  void Put(const std::string& name, Overlap overlap = Overlap::kAllow,
           Missed missed = Missed::kOnce) {
    Definition definition = TestProcess::Of("0 * * * *");
    definition.overlap = overlap;
    definition.missed = missed;
    EXPECT_EQ(a_.Put(name, definition), Kind::kCreated);
  }
  std::int64_t MessagesThere() {
    return store_.Number("select count(*) from messages", "select count(*) from tenure.messages");
  }

  store::TestStore store_{GetParam(), QueriesOfJobs()};
  TestProcess a_{store_};
};

}  // namespace tenure::jobs
