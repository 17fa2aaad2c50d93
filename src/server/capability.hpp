#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/caller.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/log.hpp"
#include "cli/command.hpp"
#include "config/given.hpp"
#include "config/settings.hpp"
#include "db/method.hpp"
#include "explain/glance.hpp"
#include "http/router.hpp"
#include "server/search.hpp"
#include "telemetry/metrics.hpp"
#include "telemetry/trace.hpp"
#include "wake/registry.hpp"

namespace tenure::server {

/// What every capability of a process is built on. All of it outlives them.
struct Parts {
  const config::Settings& settings;
  const std::string& process;       ///< this one ("host:pid:random")
  const std::string& installation;  ///< of the store
  db::Store& store;
  wake::Registry& wake;
  const base::Clock& clock;
  telemetry::Registry& metrics;
  telemetry::Tracer& tracer;
};

/// A run of a task: every transaction of it is made by `caller`, whom the task's lock fences, so
/// that a process that was paused past its lock changes nothing.
struct TaskRun {
  base::Caller caller;
  std::stop_token stop;
};

/// What one process of the ensemble does for all, at intervals.
struct Task {
  std::string name;
  std::int64_t interval_ms = 0;
  /// Returns when the run is complete; throws when it is not.
  std::function<void(const TaskRun&)> work;
};

/// What each process does for itself: it counts for its gauges.
struct Job {
  std::string name;
  std::int64_t interval_ms = 0;
  /// Runs once; throws base::Fault when it could not. Returns soon after `stopping` turned true.
  std::function<void(const std::atomic<bool>& stopping)> run;
};

/// A capability at work in this process. What it has nothing of stays empty.
///
/// Life: `start` when the listener serves; `stop_waiting` before it stops, `stop` after everything
/// that may call it has stopped. All from one thread.
struct Running {
  std::shared_ptr<void> object{};  ///< what others may use
  std::type_index type = typeid(void);
  std::function<void(http::Router&)> add_routes{};
  std::vector<Task> tasks{};
  std::vector<Job> jobs{};
  /// Brings what the configuration file lists into the store, whose lanes run: for `config apply`.
  /// Returns what it did, a sentence each. Throws base::Fault, base::UserError.
  std::function<std::vector<std::string>()> apply{};
  std::function<void(base::JsonWriter&)> write_health{};  ///< a field of /health, from memory
  std::function<explain::Glance()> glance{};              ///< what the overview shows, from memory
  std::vector<Finder> finders{};                          ///< for the search
  std::function<void()> start{};
  std::function<void()> read_again{};    ///< SIGHUP: files that it keeps in memory
  std::function<void()> stop_waiting{};  ///< ends the requests that nothing else would end soon
  std::function<void()> stop{};
};

/// The capabilities that stand already, by the type of their object.
class Others {
 public:
  /// REQUIRES: `T` is the object of one that is named in `needs`.
  template <class T>
  T& Of() const {
    const auto found = objects_.find(typeid(T));
    TENURE_CHECK(found != objects_.end(), "a capability does not name what it needs");
    return *static_cast<T*>(found->second);
  }
  void Add(const Running& running) { objects_[running.type] = running.object.get(); }

 private:
  std::unordered_map<std::type_index, void*> objects_;
};

/// A capability as a value: what the program needs of its folder. `app` goes through a list of
/// them and names none.
struct Capability {
  std::string_view name;
  std::vector<std::string_view> needs = {};  ///< others, which stand before it in the list
  std::span<const db::Query* const> queries = {};
  /// The limit of its routes, whose rate class is its name; null: they are in the operators' class.
  base::Rate config::RateLimitSettings::*rate = nullptr;
  cli::Commands (*commands)() = nullptr;
  Running (*run)(const Parts& parts, const Others& others) = nullptr;
  /// What of the settings is wrong that only the capability can tell, each with where it stands.
  void (*check)(const config::Settings& settings, config::Problems& problems) = nullptr;
  /// Whether it brings something of the configuration file into the store (Running::apply).
  bool applies = false;
};

using CapabilityList = std::vector<Capability>;

/// Those of one process, at work.
///
/// Life: construct, Start, StopWaiting, Stop (capability.hpp says when). The first that was made is
/// the last that goes.
class Capabilities {
 public:
  /// Throws base::UserError when one of `list` needs another that does not stand before it.
  Capabilities(const CapabilityList& list, const Parts& parts);
  ~Capabilities();
  Capabilities(const Capabilities&) = delete;
  Capabilities& operator=(const Capabilities&) = delete;

  template <class T>
  T& Of() const {
    return others_.Of<T>();
  }
  const std::vector<Running>& running() const { return running_; }

  void Start() const;
  void StopWaiting() const;
  void Stop() const;

 private:
  std::vector<Running> running_;
  Others others_;
};

inline constexpr std::int64_t kRetentionIntervalMs = 3'600'000;
inline constexpr std::int64_t kCountIntervalMs = 60'000;
inline constexpr std::int64_t kOftenMs = 10'000;  ///< for gauges that are alerts

/// Waits for an operation on the thread of a task or a job. Throws its fault.
template <class Reply, class Submit>
Reply Await(Submit submit) {
  std::promise<db::Result<Reply>> promise;
  auto future = promise.get_future();
  submit([&promise](db::Result<Reply> result) { promise.set_value(std::move(result)); });
  db::Result<Reply> result = future.get();
  if (!result.ok()) throw result.fault();
  return std::move(result.value());
}
template <class Handler>
auto Await(db::Method<Handler>& method, typename Handler::RequestType request = {}) {
  return Await<typename Handler::ReplyType>(
      [&](auto done) { method(std::move(request), std::move(done)); });
}

/// Batch after batch until one is not full. Returns the number of rows. A run that is told to stop
/// before that is not complete: it throws.
template <class Reply, class Submit>
std::int64_t RunToTheEnd(const TaskRun& run, Submit submit) {
  std::int64_t rows = 0;
  for (bool more = true; more;) {
    if (run.stop.stop_requested())
      throw base::Fault(base::FaultKind::kStopping, "was told to stop before it was complete");
    const auto reply = Await<Reply>(submit);
    rows += reply.rows;
    more = reply.has_more;
  }
  return rows;
}

/// How the log tells of a sweep that found something; `what` is the field with their number.
struct SweepLine {
  std::string_view event;
  std::string_view message;
  std::string_view what;
};
/// The same of a sweep, as the run's caller.
template <class Handler>
std::int64_t SweepAll(const TaskRun& run, db::Method<Handler>& sweep,
                      const typename Handler::RequestType& request, const SweepLine& line) {
  const std::int64_t rows =
      RunToTheEnd<db::Swept>(run, [&](auto done) { sweep(request, run.caller, std::move(done)); });
  if (rows > 0) base::LogInfo(line.event, line.message, {{line.what, rows}});
  return rows;
}

}  // namespace tenure::server
