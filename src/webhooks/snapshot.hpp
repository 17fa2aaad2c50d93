#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"
#include "db/transaction.hpp"
#include "webhooks/bots/file.hpp"

namespace tenure::webhooks {

/// The bots of one tenant, as they are in force.
struct TenantBots {
  std::string tenant;
  std::int64_t revision = 0;
  std::string content;  ///< JSON, as bots::ToJson writes it
  std::int64_t applied_ms = 0;
  std::string person;
  bots::File file;
};

/// All bots of a store at one revision. Constant.
struct Snapshot {
  std::int64_t revision = 0;  ///< of the store; 0: nobody has applied a file
  std::vector<TenantBots> tenants;

  const TenantBots* OfTenant(std::string_view tenant) const;

  /// Where webhooks of a source go. Null: there is none of that name.
  struct Door {
    const TenantBots* bots = nullptr;
    const bots::Source* source = nullptr;
  };
  Door FindSource(std::string_view name) const;
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

/// What is in force, in this transaction.
/// REQUIRES of whoever decides by it: the bots lock, taken in an earlier statement.
SnapshotPtr LoadSnapshot(db::Transaction& tx);

/// What this process last saw. It may be old: whoever decides by it compares revisions in the
/// transaction that decides. Threads: any.
class SnapshotCache {
 public:
  SnapshotPtr Get() const;
  /// Tells `on_change` of a newer one, and keeps it.
  void Put(SnapshotPtr seen);
  /// Called with each newer one before anybody gets it, on the thread of whoever saw it: what
  /// belongs to it is ready then. Two threads may bring the same one. Set before anybody calls Put.
  void OnChange(std::function<void(const SnapshotPtr&)> on_change) {
    on_change_ = std::move(on_change);
  }

 private:
  mutable base::Mutex mutex_;
  SnapshotPtr latest_ TENURE_GUARDED_BY(mutex_) = std::make_shared<const Snapshot>();
  std::function<void(const SnapshotPtr&)> on_change_;
};

}  // namespace tenure::webhooks
