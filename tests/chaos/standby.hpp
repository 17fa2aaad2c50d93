#pragma once

#include <memory>
#include <string>

#include "support/port.hpp"
#include "support/postgres_cluster.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::chaos {

/// A hot standby of a cluster, made by pg_basebackup. The constructor returns when it follows the
/// primary synchronously: from then on no commit of the primary is answered before the standby has
/// it.
class SynchronousStandby {
 public:
  explicit SynchronousStandby(support::PostgresCluster& primary);

  /// Makes it a primary of its own, on a new timeline. REQUIRES: the old primary is stopped.
  void Promote();

  std::string Url(const std::string& database) const;
  int port() const { return port_.number(); }

 private:
  support::TempDir dir_;
  support::ReservedPort port_;
  std::unique_ptr<support::Process> server_;
};

}  // namespace tenure::chaos
