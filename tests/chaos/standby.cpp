#include "standby.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "api/api.hpp"
#include "api/sql_session.hpp"

namespace tenure::chaos {
namespace {

using support::ProcessOptions;

std::string Program(const std::string& name) {
  const char* configured = std::getenv("TENURE_POSTGRES_BIN");
  return std::string(configured != nullptr ? configured : "/usr/lib/postgresql/15/bin") + "/" +
         name;
}

/// PostgreSQL refuses to run as root; support/postgres_cluster.hpp does the same.
std::optional<support::User> UserToRunAs() {
  if (geteuid() != 0) return std::nullopt;
  const passwd* user = getpwnam("postgres");
  if (user == nullptr) throw std::runtime_error("no user 'postgres' to run PostgreSQL as");
  return support::User{user->pw_uid, user->pw_gid};
}

}  // namespace

SynchronousStandby::SynchronousStandby(support::PostgresCluster& primary)
    : dir_(support::Storage::kMemory) {
  const auto user = UserToRunAs();
  if (user) dir_.GiveTo(user->uid, user->gid);
  const std::string data = dir_ / "data";
  support::RunCommand({.argv = {Program("pg_basebackup"), "-D", data, "-R", "-X", "stream",
                                "--checkpoint=fast", "--no-sync", "-d", primary.Url()},
                       .working_dir = dir_.path(),
                       .user = user});
  server_ = std::make_unique<support::Process>(
      ProcessOptions{.argv = {Program("postgres"), "-D", data, "-c",
                              "port=" + std::to_string(port()), "-c", "listen_addresses=127.0.0.1",
                              "-c", "unix_socket_directories=" + dir_.path().string(), "-c",
                              "max_connections=200", "-c", "fsync=off"},
                     .environment = {{"LC_ALL", "C.UTF-8"}},
                     .working_dir = dir_.path(),
                     .user = user,
                     .output = dir_ / "postgres.log",
                     .parent_death_signal = SIGQUIT});
  server_->WaitForLine("database system is ready to accept read-only connections");
  primary.Execute("postgres", "alter system set synchronous_standby_names = '*'");
  primary.Execute("postgres", "select pg_reload_conf()");
  api::Eventually("the standby follows synchronously", [&] {
    return primary.Execute("postgres",
                           "select count(*) from pg_stat_replication where sync_state = 'sync'") ==
           "1";
  });
}

void SynchronousStandby::Promote() {
  api::SqlSession(Url("postgres")).Execute("select pg_promote(true, 60)");
}

std::string SynchronousStandby::Url(const std::string& database) const {
  return "postgresql://postgres@127.0.0.1:" + std::to_string(port()) + "/" + database;
}

}  // namespace tenure::chaos
