#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "jobs/ledger.hpp"
#include "jobs/probe.hpp"
#include "messages/enqueue/enqueue.hpp"
#include "telemetry/trace.hpp"

namespace tenure::jobs {

/// What a transaction wrote, for after its COMMIT.
struct Written {
  messages::EnqueueEffect effect{};
  messages::Notifications notifications{};  ///< of runs that waited
  std::vector<NewRun> runs{};
  std::vector<std::int64_t> late_ms{};  ///< of runs of the schedule: at the time of the decision
  std::int64_t decided_boot_ms = 0;
  mutable std::vector<telemetry::Span> spans{};  ///< of the runs; they end after COMMIT
  bool has_nearer_look = false;  ///< a job is due earlier than whoever waits may know
};

/// Where the runs of a transaction go.
struct Outbox {
  messages::TopicCache& topic_cache;
  std::string_view process;
  telemetry::Tracer* tracer = nullptr;  ///< null: nothing is traced
};

/// The key under which the schedulers of this process wait.
inline constexpr std::string_view kLookKey = "j\n";

/// Writes what ledgers decided: rows of runs, and the messages of those that are to be done or wait,
/// in order of nominal time, then name. A nominal time that has its run already gets no second one,
/// nor a message: the row decides (M3).
/// `payloads`: of jobs with a run that has none of its own.
Written WriteRuns(db::Transaction& tx, std::span<const Ledger* const> ledgers,
                  const std::map<base::Uuid, std::string>& payloads, const Outbox& outbox);
/// Jobs whose runs need the payload.
std::map<base::Uuid, std::string> LoadPayloads(db::Transaction& tx,
                                               std::span<const Ledger* const> ledgers);

/// After COMMIT: counts, and wakes.
void Publish(const Written& written, messages::TopicCache& topic_cache, wake::Registry& wake,
             Probe& probe);

}  // namespace tenure::jobs
