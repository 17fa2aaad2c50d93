#pragma once

#include <optional>
#include <string>
#include <variant>

#include "jobs/write_runs.hpp"
#include "wake/registry.hpp"

namespace tenure::jobs {

/// What a command weighs in its lane that writes many runs with their payloads: so few of them share a
/// transaction that it stays within a server's memory.
inline constexpr std::size_t kWritingBytes = 512 << 10;

struct PutCommand {
  JobKey key{};
  Definition definition{};
  std::optional<std::int64_t> if_revision{};
  Origin origin = Origin::kApi;
  /// Whether it is to be made or changed, for who must know before (the audit has an act for each);
  /// where it is otherwise by then nothing happens (kOtherThanSeen).
  std::optional<bool> is_new{};

  std::size_t bytes() const { return db::BytesOf(key, definition); }
};
struct DeleteCommand {
  JobKey key{};
  Origin origin = Origin::kApi;

  std::size_t bytes() const { return key.bytes(); }
};
struct PauseCommand {
  JobKey key{};
  std::string reason{};
  std::int64_t until_ms = 0;  ///< 0: until it is resumed

  std::size_t bytes() const { return db::BytesOf(key, reason); }
};
struct ResumeCommand {
  JobKey key{};

  std::size_t bytes() const { return key.bytes() + kWritingBytes; }
};
struct TriggerCommand {
  JobKey key{};
  std::optional<std::string> payload{};  ///< instead of the job's

  std::size_t bytes() const { return db::BytesOf(key, payload); }
};
struct BackfillCommand {
  JobKey key{};
  std::int64_t from_ms = 0;
  std::int64_t to_ms = 0;
  std::int64_t most = kMaxBackfill;

  std::size_t bytes() const { return key.bytes() + kWritingBytes; }
};
/// tzdata is another one.
struct RecomputeCommand {
  JobKey key{};

  std::size_t bytes() const { return key.bytes(); }
};
/// Everything that is done to one job is one kind of operation, so that one transaction serves all
/// that waits, in order of arrival per job.
using JobCommand = std::variant<PutCommand, DeleteCommand, PauseCommand, ResumeCommand,
                                TriggerCommand, BackfillCommand, RecomputeCommand>;

struct JobOutcome {
  enum class Kind {
    kDone,  ///< and something is different
    kCreated,
    kUnchanged,
    kNoJob,
    kOtherRevision,
    kOtherThanSeen,
    kOwnedByFile,
    kTooManyJobs,
    kTooManyTimes,  ///< more than `most`
    kTooManyBytes,  ///< their payloads have more than kMaxBackfillBytes
    kAhead,         ///< `to` lies after now
    kForgotten,     ///< `from` lies before what is kept
  };
  Kind kind = Kind::kNoJob;
  std::int64_t revision = 0;
  base::Uuid run{};  ///< of a trigger
  Ledger::Backfilled backfilled{};
  std::int64_t now_ms = 0;
};

struct ChangeLimits {
  Rules rules{};
  std::int64_t most_jobs = 10'000;
  std::int64_t retention_ms = 30LL * 86'400'000;
};

/// Lock, load, decide, apply, for a batch of commands (docs/ground.md, Time).
class ChangeHandler final : public db::TypedHandler<JobCommand, JobOutcome, Written> {
 public:
  ChangeHandler(const ZoneSource& zones, const ChangeLimits& limits, const Outbox& outbox,
                wake::Registry& wake, Probe& probe)
      : zones_(zones), limits_(limits), outbox_(outbox), wake_(wake), probe_(probe) {}
  std::string_view name() const override { return "jobs.change"; }
  std::size_t KeyHash(const JobCommand& command) const override;

 protected:
  Written WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items, const Written& written) override;

 private:
  const ZoneSource& zones_;
  const ChangeLimits limits_;
  const Outbox outbox_;
  wake::Registry& wake_;
  Probe& probe_;
};

}  // namespace tenure::jobs
