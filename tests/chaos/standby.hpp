#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "api/api.hpp"
#include "api/store_under_test.hpp"
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
  explicit SynchronousStandby(support::PostgresCluster& primary) : dir_(support::Storage::kMemory) {
    const auto user = support::UnprivilegedUser();
    if (user) dir_.GiveTo(user->uid, user->gid);
    const std::string data = dir_ / "data";
    support::RunCommand({.argv = {Program("pg_basebackup"), "-D", data, "-R", "-X", "stream",
                                  "--checkpoint=fast", "--no-sync", "-d", primary.Url()},
                         .working_dir = dir_.path(),
                         .user = user});
    server_ = std::make_unique<support::Process>(support::ProcessOptions{
        .argv = {Program("postgres"), "-D", data, "-c", "port=" + std::to_string(port()), "-c",
                 "listen_addresses=127.0.0.1", "-c",
                 "unix_socket_directories=" + dir_.path().string(), "-c", "max_connections=200",
                 "-c", "fsync=off"},
        .environment = {{"LC_ALL", "C.UTF-8"}},
        .working_dir = dir_.path(),
        .user = user,
        .output = dir_ / "postgres.log",
        .parent_death_signal = SIGQUIT});
    server_->WaitForLine("database system is ready to accept read-only connections");
    primary.Execute("postgres", "alter system set synchronous_standby_names = '*'");
    primary.Execute("postgres", "select pg_reload_conf()");
    api::Eventually("the standby follows synchronously", [&] {
      return primary.Execute(
                 "postgres",
                 "select count(*) from pg_stat_replication where sync_state = 'sync'") == "1";
    });
  }

  /// Makes it a primary of its own, on a new timeline. REQUIRES: the old primary is stopped.
  void Promote() { api::SqlSession(Url("postgres")).Execute("select pg_promote(true, 60)"); }

  std::string Url(const std::string& database) const {
    return "postgresql://postgres@127.0.0.1:" + std::to_string(port()) + "/" + database;
  }
  int port() const { return port_.number(); }

 private:
  static std::string Program(const std::string& name) {
    const char* configured = std::getenv("TENURE_POSTGRES_BIN");
    return std::string(configured != nullptr ? configured : "/usr/lib/postgresql/15/bin") + "/" +
           name;
  }

  support::TempDir dir_;
  support::ReservedPort port_;
  std::unique_ptr<support::Process> server_;
};

}  // namespace tenure::chaos
