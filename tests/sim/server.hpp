#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "db/connection.hpp"
#include "db/operation.hpp"
#include "db/store.hpp"
#include "leases/guard.hpp"
#include "leases/leases.hpp"
#include "sim/book.hpp"
#include "support/temp_dir.hpp"
#include "tasks/tasks.hpp"
#include "telemetry/metrics.hpp"
#include "wake/registry.hpp"

namespace tenure::sim {

/// A resource that a lease protects. The guard judges the fence in the write's own transaction;
/// there is nothing else to it, so an answer that is not a fault is an accepted write.
struct WriteRequest {};
struct WriteReply {};
class WriteHandler final : public db::TypedHandler<WriteRequest, WriteReply> {
 public:
  std::string_view name() const override { return "sim.write"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

/// Stands in the store's way at every step: it tells the run of each, and notes when a transaction
/// got the write lock. It also is the store's clock, so that one that is read too early can be
/// played.
class Watch final : public base::Clock, public db::StepHook {
 public:
  explicit Watch(const base::Clock& real) : real_(real) {}

  std::int64_t WallMs() const override { return early_ ? early_->store_ms : real_.WallMs(); }
  std::int64_t BootMs() const override { return early_ ? early_->boot_ms : real_.BootMs(); }
  void Before(std::string_view step) override;
  void After(std::string_view step) override;

  std::function<void(std::string_view)> before{};  ///< may let time pass, may throw
  Instant at{};                                    ///< of the transaction under way, or the last
  std::optional<Instant> early_{};                 ///< what the store reads instead of its clock

 private:
  const base::Clock& real_;
};

/// The server of a simulation: the production code of leases and tasks on a real SQLite store, in
/// memory where the machine has a file system there. Its lanes and its waiters are driven by hand.
/// One serves many runs, each with a tenant of its own.
class Server {
 public:
  explicit Server(base::ManualClock& clock);
  ~Server();

  /// Runs lanes and waiters until nothing moves at this instant.
  void Drive();
  /// All that it had in memory is gone: what was queued is never answered, nor is anybody who
  /// waits. Their callbacks must not be listened to while `crashing`.
  void Crash();
  bool crashing() const { return crashing_; }

  leases::Leases& leases() { return *leases_; }
  tasks::Tasks& tasks() { return *tasks_; }
  void Write(base::Fence fence, base::UniqueFunction<db::Result<WriteReply>> done);
  Watch& watch() { return watch_; }

 private:
  void Open();

  base::ManualClock& clock_;
  support::TempDir dir_{support::Storage::kMemory};
  telemetry::Registry metrics_;
  Watch watch_;
  leases::FenceGuard guard_;
  WriteHandler write_;
  std::unique_ptr<db::Store> store_;
  std::unique_ptr<wake::Registry> wake_;
  std::unique_ptr<leases::Leases> leases_;
  std::unique_ptr<tasks::Tasks> tasks_;
  bool crashing_ = false;
};

}  // namespace tenure::sim
