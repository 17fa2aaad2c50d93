#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "support/port.hpp"
#include "support/postgres_cluster.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::support {

/// A real PgBouncer in transaction mode before a cluster, on a port of 127.0.0.1 of its own. Each
/// transaction goes to any of a few connections that all clients share, so whatever a session
/// would remember (prepared statements, settings, session locks, LISTEN) is lost or, worse,
/// somebody else's.
///
/// The constructor returns when it accepts connections. It ends with this object, and when the test
/// program is killed. REQUIRES: the cluster outlives it.
class PgBouncer {
 public:
  /// `connections`: to each database. Fewer than clients, so that they do share.
  explicit PgBouncer(const PostgresCluster& cluster, int connections = 3);
  PgBouncer(const PgBouncer&) = delete;
  PgBouncer& operator=(const PgBouncer&) = delete;

  /// "postgresql://postgres@127.0.0.1:PORT/DATABASE".
  std::string Url(std::string_view database) const;
  std::string Log() const { return server_->Output(); }

 private:
  TempDir dir_;
  ReservedPort port_;
  const std::optional<User> user_;
  std::unique_ptr<Process> server_;
};

}  // namespace tenure::support
