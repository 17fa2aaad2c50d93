#include "support/pgbouncer.hpp"

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

namespace tenure::support {
namespace {

/// Where Debian has it; the variable is for other systems.
std::string Program() {
  const char* configured = std::getenv("TENURE_PGBOUNCER");
  return configured != nullptr ? configured : "/usr/sbin/pgbouncer";
}

/// Everybody is let in, as the superuser: the cluster trusts all of this machine as well.
constexpr const char* kSettings = R"([databases]
* = host=127.0.0.1 port={} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {}
max_client_conn = 200
)";

}  // namespace

PgBouncer::PgBouncer(const PostgresCluster& cluster, int connections) : user_(UnprivilegedUser()) {
  const auto file = dir_ / "pgbouncer.ini";
  std::ofstream(file) << fmt::format(kSettings, cluster.port(), port_.number(), connections);
  // The log is a file of ours in that folder; PgBouncer itself only reads.
  if (user_) dir_.GiveTo(user_->uid, user_->gid);
  server_ = std::make_unique<Process>(ProcessOptions{.argv = {Program(), file},
                                                     .working_dir = dir_.path(),
                                                     .user = user_,
                                                     .output = dir_ / "pgbouncer.log"});
  server_->WaitForLine("process up");
}

std::string PgBouncer::Url(std::string_view database) const {
  return fmt::format("postgresql://postgres@127.0.0.1:{}/{}", port_.number(), database);
}

}  // namespace tenure::support
