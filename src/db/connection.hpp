#pragma once

#include <span>
#include <string_view>

#include "db/param.hpp"
#include "db/query.hpp"
#include "db/rows.hpp"

namespace tenure::db {

enum class Access {
  kRead,            ///< sees committed rows, takes no locks, changes nothing
  kWrite,           ///< one transaction
  kImpatientWrite,  ///< one transaction that waits for locks only a moment
};

/// A fault point: what a test or the simulation does around every statement, clock reading and
/// commit. It may block (the stepped scheduler), throw base::Fault (a lost reply) or throw a type
/// of its own (a crash: it passes through the lane, whose items are then never answered, as when a
/// process dies). Step names are query names, "begin", "clock" and "commit".
class StepHook {
 public:
  virtual ~StepHook() = default;
  virtual void Before(std::string_view step) = 0;
  virtual void After(std::string_view step) = 0;
};

/// One connection to a store, owned and used by one thread at a time (a lane's). Domain code never
/// sees it: it gets a `Transaction`.
///
/// Within a transaction statements are queued and sent together (PostgreSQL: pipeline mode, one
/// flush) when the first result is asked for; COMMIT rides with the last flush. With a hook each
/// statement is sent and awaited by itself, so that another process can be placed between any two.
///
/// Faults: base::Fault, with kStoreUnavailable when the connection was lost before COMMIT was sent
/// (nothing happened) and kOutcomeUnknown when it was lost afterwards. A lost connection closes
/// itself: `IsOpen` is then false and `Open` connects again.
class Connection {
 public:
  virtual ~Connection() = default;

  /// Throws kStoreUnavailable when there is nobody to connect to.
  virtual void Open() = 0;
  virtual bool IsOpen() const = 0;
  virtual void Close() noexcept = 0;
  /// While nothing is on its way: notices without a round trip when the other side has gone, and
  /// closes itself then.
  virtual void CheckPeer() noexcept {}

  virtual void Begin(Access access) = 0;
  /// The number of the queued statement within this transaction.
  virtual std::size_t Send(const Query& query, std::span<const Param> params) = 0;
  /// Queues a reading of the store's clock.
  virtual std::size_t SendClock() = 0;
  virtual Rows Receive(std::size_t statement) = 0;
  virtual std::int64_t ReceiveClock(std::size_t statement) = 0;
  virtual void Commit() = 0;
  /// Ends a transaction that was not committed. Never throws: a connection that cannot roll back is
  /// closed.
  virtual void Rollback() noexcept = 0;

  void SetHook(StepHook* hook) { hook_ = hook; }

 protected:
  StepHook* hook_ = nullptr;
};

}  // namespace tenure::db
