#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/mutex.hpp"
#include "tenure/clock.hpp"
#include "tenure/leases/provider.hpp"

namespace tenure::client {

using Milliseconds = std::chrono::milliseconds;

/// Told whenever a call begins: until when it should have ended.
using Expectation = std::function<void(std::int64_t overdue_ms)>;

/// A connection to the provider, for one caller after another. A provider's connection promises to
/// answer in time; this one sees to it: a call that is overdue is cancelled by the watchdog, and
/// the next call gets a new one.
///
/// Threads: `Use` by one at a time; the rest by any.
class WatchedConnection {
 public:
  WatchedConnection(leases::Provider& provider, const Clock& clock, Expectation expect)
      : provider_(provider), clock_(clock), expect_(std::move(expect)) {}

  /// Calls `call(connection)`, which should take no longer than `limit`.
  template <class Call>
  auto Use(Milliseconds limit, const Call& call) {
    const InUse use(*this, limit);
    return call(*use.connection);
  }

  /// A call under way ends soon with ProviderUnavailable. Without one, nothing happens.
  void Cancel();
  /// The same where the call should have ended before `now_ms`.
  void CancelOverdue(std::int64_t now_ms);
  /// When the call under way will be overdue; kNever: there is none.
  std::int64_t overdue_ms() const;
  /// Like Cancel, and every later call fails at once.
  void Close();

 private:
  struct InUse {
    InUse(WatchedConnection& its_owner, Milliseconds limit)
        : owner(its_owner), connection(its_owner.Begin(limit)) {}
    ~InUse() { owner.End(); }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;
    WatchedConnection& owner;
    std::shared_ptr<leases::Connection> connection;
  };
  std::shared_ptr<leases::Connection> Begin(Milliseconds limit);
  void End();
  void CancelLocked() TENURE_REQUIRES(mutex_);

  leases::Provider& provider_;
  const Clock& clock_;
  const Expectation expect_;
  mutable base::Mutex mutex_;
  std::shared_ptr<leases::Connection> connection_ TENURE_GUARDED_BY(mutex_);
  std::int64_t overdue_ms_ TENURE_GUARDED_BY(mutex_) = kNever;
  bool cancelled_ TENURE_GUARDED_BY(mutex_) = false;  // the connection is of no use any more
  bool closed_ TENURE_GUARDED_BY(mutex_) = false;
};

/// The connections of the callers of a manager: as many as call at one time, since one that waits
/// for a lease occupies its own. A few stay open for the next callers.
///
/// Threads: any.
class ConnectionPool {
 public:
  ConnectionPool(leases::Provider& provider, const Clock& clock, Expectation expect)
      : provider_(provider), clock_(clock), expect_(std::move(expect)) {}

  /// One for the caller alone until `Return`.
  std::shared_ptr<WatchedConnection> Borrow();
  void Return(std::shared_ptr<WatchedConnection> connection);

  /// One that belongs to one caller for good; it is watched like the others.
  std::shared_ptr<WatchedConnection> Dedicate();

  void CancelOverdue(std::int64_t now_ms);
  std::int64_t NextOverdueMs() const;
  /// Every call under way ends soon, later ones fail.
  void Close();

 private:
  std::shared_ptr<WatchedConnection> Make() TENURE_REQUIRES(mutex_);
  std::vector<std::shared_ptr<WatchedConnection>> Live() const;

  static constexpr std::size_t kMostIdle = 4;

  leases::Provider& provider_;
  const Clock& clock_;
  const Expectation expect_;
  mutable base::Mutex mutex_;
  std::vector<std::shared_ptr<WatchedConnection>> idle_ TENURE_GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<WatchedConnection>> all_ TENURE_GUARDED_BY(mutex_);
  bool closed_ TENURE_GUARDED_BY(mutex_) = false;
};

/// A borrowed connection, returned at the end of its scope.
class BorrowedConnection {
 public:
  explicit BorrowedConnection(ConnectionPool& pool) : pool_(pool), connection_(pool.Borrow()) {}
  ~BorrowedConnection() { pool_.Return(std::move(connection_)); }
  BorrowedConnection(const BorrowedConnection&) = delete;
  BorrowedConnection& operator=(const BorrowedConnection&) = delete;
  WatchedConnection* operator->() { return connection_.get(); }

 private:
  ConnectionPool& pool_;
  std::shared_ptr<WatchedConnection> connection_;
};

}  // namespace tenure::client
