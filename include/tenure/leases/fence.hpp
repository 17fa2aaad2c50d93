#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "tenure/leases/errors.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::leases {

/// Fencing with leases of a SQLite file, for writes to another store by a process of the same
/// machine:
///
///   FenceFile fences("sqlite:///var/lib/app/leases.db");
///   fences.While("importer", lease.fence(), [&] { …commit your own transaction… });
///
/// While the function runs nobody can take the lease over. The file's write lock is held, so
/// renewals of every lease in the file wait too: let it be one short transaction. (On PostgreSQL
/// call tenure.check_fence(name, fence) inside of your transaction instead: there renewals pass.)
///
/// Threads: one at a time.
class FenceFile {
 public:
  /// Throws std::invalid_argument for another kind of URL, ProviderUnavailable.
  explicit FenceFile(std::string_view url);
  ~FenceFile();
  FenceFile(const FenceFile&) = delete;
  FenceFile& operator=(const FenceFile&) = delete;

  /// Runs `work` if the fence is that of the live grant. Throws LostError when it is not,
  /// ProviderUnavailable when the lock cannot be taken, and what `work` throws.
  void While(std::string_view name, std::int64_t fence, const std::function<void()>& work);

 private:
  class Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace tenure::leases
