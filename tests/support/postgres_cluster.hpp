#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/port.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

struct pg_conn;

namespace tenure::support {

/// A connection of the test's own to PostgreSQL, with a transaction that stays open between calls:
/// for holding locks against the server, and for looking at a database that no cluster object has.
class SqlSession {
 public:
  explicit SqlSession(const std::string& url);
  /// The first value of the result as text; empty when there is none.
  std::string Execute(const std::string& sql);
  /// The SQLSTATE with which it is refused; empty when it is not.
  std::string RefusalOf(const std::string& sql);

 private:
  std::unique_ptr<pg_conn, void (*)(pg_conn*)> connection_;
};

struct PostgresOptions {
  /// Keeps fsync on and the data on disk, for benchmarks. Without it a commit survives every death
  /// of PostgreSQL's processes, `Stop(kImmediate)` included, but not a power cut, which tests do
  /// not have; and a new database costs 20 ms instead of 200.
  bool durable = false;
  /// More settings, each "name=value".
  std::vector<std::string> settings = {};
};

/// A real PostgreSQL 15 with data of its own in a temporary folder, on a port of 127.0.0.1 of its
/// own; any number may run side by side. The superuser is `postgres`, without a password.
///
/// The constructor returns when it accepts connections (about a second later). It ends with this
/// object, and when the test program is killed.
///
/// PostgreSQL refuses to run as root: a test program that is root runs it as the user `postgres`.
///
/// Databases may be made from several threads at once; stopping and starting is for one thread.
class PostgresCluster {
 public:
  enum class StopMode {
    kFast,       ///< connections are cut, transactions rolled back, everything written
    kImmediate,  ///< like a crash: the next start recovers from the log
  };

  explicit PostgresCluster(PostgresOptions options = {});
  ~PostgresCluster();
  PostgresCluster(const PostgresCluster&) = delete;
  PostgresCluster& operator=(const PostgresCluster&) = delete;

  /// "postgresql://postgres@127.0.0.1:PORT/DATABASE".
  std::string Url(std::string_view database = "postgres") const;

  /// The name of a new database: an empty one, or a copy of one that nobody is connected to.
  std::string CreateDatabase(std::string_view like = "template0");
  /// Cuts the connections to it, then removes it.
  void DropDatabase(std::string_view database);

  /// Runs one or more statements and returns the first value of the last result as text (empty when
  /// there is none). For set-up and for looking at tables; throws when PostgreSQL refuses.
  std::string Execute(std::string_view database, const std::string& sql) const;

  void Stop(StopMode mode);
  /// On the same port and data. REQUIRES: it is stopped.
  void Start();
  void Restart(StopMode mode);

  /// Cuts every client connection (except the one that does it); PostgreSQL goes on. Their number.
  int KillAllBackends();

  bool IsRunning();
  /// Of the postmaster. REQUIRES: it has not been stopped.
  pid_t pid() const { return server_->pid(); }
  int port() const { return port_.number(); }
  const std::filesystem::path& data_dir() const { return data_; }
  /// What the server logged since its last start.
  std::string Log() const { return server_->Output(); }

 private:
  void InitialiseData();

  const PostgresOptions options_;
  TempDir dir_;
  ReservedPort port_;
  std::filesystem::path data_;
  std::optional<User> user_;
  std::unique_ptr<Process> server_;
  std::atomic<int> databases_ = 0;
};

/// One cluster for the whole test program, started by the first call and stopped at the program's
/// end. Tests that stop or restart PostgreSQL make their own.
PostgresCluster& SharedPostgres();

}  // namespace tenure::support
