// A lease says who may write; it cannot stop a process that was paused after it looked. The
// database can: tenure.check_fence inside of the writing transaction refuses a fence that is not
// the live one, and holds off a takeover until the transaction ends.
//
// With --stop-before-write the program stops itself (SIGSTOP) between its look at the lease and its
// write, the worst of all moments. Let another process take over, send SIGCONT, and see its write
// bounce.

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <tenure/leases/manager.hpp>

#include <libpq-fe.h>

namespace leases = tenure::leases;
using namespace std::chrono_literals;

namespace {

struct Closer {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
};
using Connection = std::unique_ptr<PGconn, Closer>;
using Result = std::unique_ptr<PGresult, Closer>;

/// The SQLSTATE of what went wrong; empty when nothing did.
std::string Run(PGconn& connection, const std::string& sql) {
  const Result result(PQexec(&connection, sql.c_str()));
  const char* state = PQresultErrorField(result.get(), PG_DIAG_SQLSTATE);
  return state ? state : "";
}

/// One write under a fence; true when it was committed.
bool Write(PGconn& database, std::int64_t fence) {
  Run(database, "begin");
  const std::string stale =
      Run(database, "select tenure.check_fence('examples/writer', " + std::to_string(fence) + ")");
  if (!stale.empty()) {
    Run(database, "rollback");
    std::cout << "refused: fence " << fence << " is stale (" << stale << ")" << std::endl;
    return false;
  }
  Run(database, "insert into writes (fence) values (" + std::to_string(fence) + ")");
  Run(database, "commit");
  std::cout << "wrote with fence " << fence << std::endl;
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: fenced_writer POSTGRES_URL [--stop-before-write]\n";
    return 2;
  }
  const bool stops = argc > 2 && std::string_view(argv[2]) == "--stop-before-write";
  const Connection database(PQconnectdb(argv[1]));
  const auto manager = leases::Open(argv[1]);
  Run(*database,
      "set client_min_messages = warning; create table if not exists writes (fence bigint)");

  auto lease = manager->Acquire("examples/writer", 60s, {.ttl = 1s});
  std::cout << "leads with fence " << lease.fence() << std::endl;
  if (!lease.Held()) return 1;
  if (stops) kill(getpid(), SIGSTOP);
  // Whatever happened since the look above: the database decides.
  return Write(*database, lease.fence()) ? 0 : 3;
}
