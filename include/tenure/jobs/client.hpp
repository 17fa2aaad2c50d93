#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenure/jobs/errors.hpp"
#include "tenure/jobs/job.hpp"

namespace tenure::jobs {

struct ClientOptions {
  Milliseconds timeout{10'000};  ///< for one call, connecting included
  /// postgres:// and sqlite:// only: whether this process also fires what is due, as every server
  /// does. Without it a job on a store that no server uses never runs.
  bool fires = true;
  bool pooled = false;    ///< postgres:// only: the address is a transaction pooler's
  std::string ca_file{};  ///< https:// only: a file in PEM with the authorities that count
  bool insecure = false;  ///< http:// only: a token may be sent to another machine in clear text
};

struct PutResult {
  bool created = false;
  JobState job{};
};
struct TriggerOptions {
  std::optional<std::string> payload{};  ///< JSON, instead of the job's
  /// Of several triggers with one key, within a day, only the first makes a run.
  std::string key{};
};
struct Backfilled {
  std::int64_t runs = 0;
  std::int64_t skipped = 0;  ///< had theirs
};
struct RunFilter {
  std::optional<RunStatus> status{};
  int limit = 100;  ///< 1 to 1000
};

/// Makes, changes, looks at and runs jobs. Whoever is to do their work takes a messages::Worker,
/// whose Context knows the nominal time.
///
///   tenure::jobs::Client jobs("postgres://localhost/app");
///   jobs.Put({.name = "nightly", .topic = "reports",
///             .when = {.cron = "30 2 * * *", .time_zone = "Europe/Berlin"}});
///
/// Every change is one atomic step in the store, and answered when it is durable. Calls block; they
/// throw Unavailable, AccessDenied, Refused, and std::invalid_argument, which names the field, for
/// what cannot be meant.
///
/// Life: on a store of its own it fires what is due for as long as it lives, if it may. Any number
/// of processes do, and none leads: each run is written once.
/// Threads: any, at once.
class Client {
 public:
  /// "postgres://…", "sqlite:///path/to/file", "http(s)://[token@]host", as messages::Client.
  explicit Client(std::string_view url, const ClientOptions& options = {});
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  /// Makes the job, or changes it; one that is as it was keeps its next run. With `revision` only
  /// the job of that revision is changed.
  PutResult Put(const Job& job, std::optional<std::int64_t> revision = {});
  std::optional<JobState> Get(std::string_view name);
  /// By name, those behind `after`.
  std::vector<JobState> List(std::string_view after = {}, int limit = 100);
  /// The times that a schedule names, at or after `from_ms` (none: now).
  std::vector<NamedTime> Preview(const When& when, int count = 20,
                                 std::optional<std::int64_t> from_ms = {});
  /// With the runs that nobody has claimed. False: there is none.
  bool Delete(std::string_view name);

  /// A run now; its id. Nothing: there is no such job.
  std::optional<std::string> Trigger(std::string_view name, const TriggerOptions& options = {});
  /// Runs for the nominal times from <= t < to that never had one; more than `most` are refused.
  std::optional<Backfilled> Backfill(std::string_view name, std::int64_t from_ms,
                                     std::int64_t to_ms, int most = 1'000);
  /// Until Resume, or until `until_ms`. Both: false: there is no such job.
  bool Pause(std::string_view name, std::string_view reason = {},
             std::optional<std::int64_t> until_ms = {});
  bool Resume(std::string_view name);

  /// The latest nominal time first. Nothing: there is no such job.
  std::optional<std::vector<Run>> Runs(std::string_view name, const RunFilter& filter = {});

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// The same as Client's constructor.
std::unique_ptr<Client> Open(std::string_view url, const ClientOptions& options = {});

}  // namespace tenure::jobs
