#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/mutex.hpp"
#include "client/address.hpp"
#include "db/feed.hpp"
#include "db/store.hpp"
#include "telemetry/metrics.hpp"
#include "wake/registry.hpp"

namespace tenure::client {

/// A store that this process opens itself.
using StoreAddress = std::variant<PostgresAddress, SqliteAddress>;

/// What everything on a store of our own shares: the address and its engines, the news of other
/// processes, and who waits for them. The schema is up to date and the store's identity checked
/// when it stands.
///
/// Life: the constructor starts everything (throws base::Fault, base::UserError), the destructor
/// ends it; whoever waits has been answered before that.
/// Threads: any.
class LocalStore {
 public:
  struct Options {
    /// What is run there: PostgreSQL prepares it on each connection.
    std::vector<const db::Query*> queries{};
    /// Signalled when news may have been missed; empty: whoever waits is woken.
    std::string recheck_key{};
  };
  LocalStore(const StoreAddress& address, Options options);
  ~LocalStore();
  LocalStore(const LocalStore&) = delete;
  LocalStore& operator=(const LocalStore&) = delete;

  /// A new store with lanes of its own: what must not wait behind others' work has its own.
  std::unique_ptr<db::Store> NewLanes(int write_lanes);

  wake::Registry& wake() { return wake_; }
  telemetry::Registry& metrics() { return metrics_; }
  /// "host:pid:random", with a new random part for each: tickets and notifications are told apart
  /// by it.
  const std::string& process() const { return process_; }

  /// News that must be polled for are polled for only while somebody waits.
  class Waiting {
   public:
    explicit Waiting(LocalStore& store) : store_(store) { store_.Count(1); }
    ~Waiting() { store_.Count(-1); }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    LocalStore& store_;
  };

 private:
  std::unique_ptr<db::Engine> NewEngine();
  void Count(int more);

  const StoreAddress address_;
  const Options options_;
  const std::string process_;
  telemetry::Registry metrics_;
  wake::Registry wake_;
  const std::unique_ptr<db::Engine> feed_engine_;
  std::unique_ptr<db::Feed> feed_;
  base::Mutex mutex_;
  int waiting_ TENURE_GUARDED_BY(mutex_) = 0;
};

/// The queries of some modules, as one list.
std::vector<const db::Query*> Joined(
    std::initializer_list<std::span<const db::Query* const>> modules);

}  // namespace tenure::client
