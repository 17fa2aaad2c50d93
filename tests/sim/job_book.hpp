#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "store/tables.hpp"

namespace tenure::sim {

/// A job as the tables have it.
struct JobRecord {
  std::string name{};
  std::int64_t every_ms = 0;  ///< 0: at 06:00 and 18:00 of the simulated zone
  bool enabled = false;
  std::string missed{};   ///< "once", "skip", "all"
  std::string overlap{};  ///< "skip", "allow", "queue_one"
  std::int64_t window_ms = 0;
  std::int64_t cap = 0;
  std::int64_t starts_ms = 0;
  std::int64_t ends_ms = 0;
  std::int64_t jitter_ms = 0;
  std::int64_t created_ms = 0;
  std::int64_t since_ms = 0;
  std::int64_t next_ms = 0;
  std::int64_t look_ms = 0;
  std::int64_t paused_ms = 0;
  std::int64_t paused_until_ms = 0;
  std::int64_t revision = 0;

  friend bool operator==(const JobRecord&, const JobRecord&) = default;
};

struct RunRecord {
  std::string job{};
  std::int64_t nominal_ms = 0;
  std::string kind{};   ///< "schedule", "trigger", "backfill"
  std::string state{};  ///< "live", "waiting", "done", "dead", "skipped"
  std::string reason{};
  std::int64_t first_ms = 0;
  std::int64_t number = 0;
};

/// Everything that is on record about jobs after one commit. Ids are lower-case hex.
struct JobPicture {
  std::map<std::string, JobRecord> jobs{};
  std::map<std::string, RunRecord> runs{};
  std::map<std::string, std::string> messages{};  ///< "waits", "ready", "claimed"
  std::set<std::string> dead{};
};
/// What the tables say, read past all of Tenure's code.
JobPicture ReadJobs(store::Tables& tables);

/// Who committed, and when it was decided.
struct JobCommit {
  std::int64_t now_ms = 0;   ///< the store's clock when the transaction began
  bool fires = false;        ///< else it may have changed jobs, or settled messages
  std::int64_t zone_ms = 0;  ///< the offset of the simulated zone in the process's tzdata
};

/// The history of all jobs of a run, and the judge of M3 and of the policies.
///
/// It sees the tables after every commit and computes, from what was there before and from the
/// words of docs/jobs.md, which rows the commit must have written for each job: it shares no code
/// with the rules that it checks, and finds times one after another.
///
///  (a) Every time that is due is decided, once, by the policies that the job had; nothing else has
///      a run. What is left out is noted with its number. A time with a run gets no second one.
///  (b) The next time is the first one that is not decided, by the tzdata of who decided.
///  (c) A run that is not over is a message and the other way round; one that waits cannot be
///      claimed, is alone, and becomes ready when nothing is before it.
///  (d) A job that was removed leaves what somebody has claimed, and nothing else.
class JobBook {
 public:
  using Report = std::function<void(const std::string& what)>;
  explicit JobBook(Report report) : report_(std::move(report)) {}

  /// REQUIRES: before the first commit.
  void Begin(JobPicture picture) { picture_ = std::move(picture); }
  void Committed(JobPicture after, const JobCommit& commit);
  /// All of [from, to) have a run. REQUIRES: the job goes by a distance.
  void Backfilled(const std::string& name, std::int64_t from_ms, std::int64_t to_ms);
  /// Nothing is paused or due, all next times are those of the tzdata, and nothing waits in vain.
  void AtRest(const JobCommit& now);

  bool has_open() const;
  std::int64_t runs() const { return runs_; }
  std::int64_t left_out() const { return left_out_; }
  std::int64_t missed() const { return missed_; }
  std::int64_t waited() const { return waited_; }

 private:
  /// nominal time, state, reason, first time, number.
  using Written = std::tuple<std::int64_t, std::string, std::string, std::int64_t, std::int64_t>;
  struct Beginning {
    bool live = false;
    bool waiting = false;
    std::set<std::int64_t> had{};
  };
  Beginning BeginningOf(const std::string& id, const JobPicture& after) const;
  std::multiset<Written> Wanted(const JobRecord& job, const JobRecord& policies, Beginning at,
                                std::int64_t pause_end_ms, std::int64_t delay_ms,
                                const JobCommit& commit) const;
  void CheckJob(const std::string& id, const JobRecord& before, const JobRecord& after,
                const JobPicture& picture, const JobCommit& commit);
  void CheckNext(const JobRecord& job, std::int64_t delay_ms, const JobCommit& commit) const;
  void CheckRuns(const JobPicture& after);
  void CheckRemoved(const JobPicture& after) const;
  std::int64_t DelayOf(const std::string& id, const JobRecord& job);

  const Report report_;
  JobPicture picture_;
  std::map<std::string, std::int64_t> delays_;  // by job
  std::int64_t runs_ = 0, left_out_ = 0, missed_ = 0, waited_ = 0;
};

}  // namespace tenure::sim
