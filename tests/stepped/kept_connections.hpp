#pragma once

#include <map>
#include <memory>
#include <vector>

#include "db/engine.hpp"

namespace tenure::stepped {

/// The connections of a process that outlive what it has in memory. A crash rolls its transaction
/// back, as PostgreSQL does when a connection breaks, and hands each connection that stands between
/// two transactions to the next life of the process: to begin a server process of PostgreSQL and to
/// prepare everything there costs as much as a hundred steps. One that did not come out of its
/// transaction is closed. One thread at a time.
class KeptConnections {
 public:
  explicit KeptConnections(std::unique_ptr<db::Engine> engine);
  ~KeptConnections();

  /// For one life of the process; it must not outlive this.
  std::unique_ptr<db::Engine> Lend();

 private:
  friend int BackendPidOf(db::Connection& lent);
  class Loan;
  class LentConnection;

  const std::unique_ptr<db::Engine> engine_;
  std::map<db::Access, std::vector<std::unique_ptr<db::Connection>>> idle_;
};

/// The server process that serves a connection that was lent. REQUIRES: the engine is PostgreSQL.
int BackendPidOf(db::Connection& lent);

}  // namespace tenure::stepped
