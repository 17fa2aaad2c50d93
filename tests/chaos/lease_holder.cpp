// A process that contends for a lease for as long as it lives, and tells on standard output for how
// long it believed that it held it: "held FENCE FROM UNTIL TERM", times of CLOCK_BOOTTIME in
// milliseconds, the same clock for all processes of the machine. With a database it also writes
// under its fence. Its other lines say what else it was told.
//
//   lease_holder PROVIDER_URL NAME [POSTGRES_URL]

#include <chrono>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <variant>

#include <libpq-fe.h>

#include "tenure/leases/manager.hpp"

namespace {

namespace leases = tenure::leases;
using namespace std::chrono_literals;

struct Closer {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
};
using Connection = std::unique_ptr<PGconn, Closer>;

/// One row in a transaction of its own, refused when the fence is stale. Troubles of the database
/// are none of this program's business.
void Write(Connection& database, const std::string& url, const std::string& name,
           const leases::Lease& lease) {
  if (!database || PQstatus(database.get()) != CONNECTION_OK)
    database.reset(PQconnectdb(url.c_str()));
  const std::string fence = std::to_string(lease.fence());
  const std::string sql = "begin; select tenure.check_fence('" + name + "', " + fence +
                          "); insert into writes (fence, term) values (" + fence + ", '" +
                          lease.term() + "'); commit";
  const std::unique_ptr<PGresult, Closer> result(PQexec(database.get(), sql.c_str()));
  if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) PQclear(PQexec(database.get(), "rollback"));
}

void Hold(leases::Lease& lease, const tenure::Clock& clock, const auto& work) {
  const std::int64_t from_ms = clock.NowMs();
  std::int64_t until_ms = 0;
  // Each round: a look, and the time of a clock reading before it. What is told is true even if the
  // process is stopped between any two of these lines.
  for (int round = 0; round < 400; ++round) {
    const std::int64_t before_ms = clock.NowMs();
    if (!lease.Held()) break;
    until_ms = before_ms;
    work();
    std::this_thread::sleep_for(1ms);
  }
  if (until_ms != 0)
    std::cout << "held " << lease.fence() << ' ' << from_ms << ' ' << until_ms << ' '
              << lease.term() << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string name = argv[2];
  const std::string database_url = argc > 3 ? argv[3] : "";
  Connection database;
  int turn = 0;
  while (true) {
    try {
      // Whether the store forgets is the test's business.
      const auto manager = leases::Open(argv[1], {.require_durable_grant = false});
      std::cout << "ready" << std::endl;
      while (true) {
        auto outcome = manager->TryAcquireFor(name, 2s, {.ttl = 700ms});
        auto* lease = std::get_if<leases::Lease>(&outcome);
        if (!lease) {
          // For whoever has to find out why nothing moves.
          const auto& held = std::get<leases::HeldByAnother>(outcome);
          std::cout << "refused " << leases::ToText(held.reason) << ' ' << held.fence << std::endl;
          continue;
        }
        Hold(*lease, manager->clock(), [&] {
          if (!database_url.empty()) Write(database, database_url, name, *lease);
        });
        // By turns: given back, and left to expire as after a crash.
        if (++turn % 2 == 0) try {
            lease->Close();
          } catch (const leases::LeaseError&) {
            // The store was away; the lease ends by itself.
          }
      }
    } catch (const leases::LeaseError& error) {
      std::cout << "trouble " << error.what() << std::endl;
      std::this_thread::sleep_for(50ms);  // the store is away
    }
  }
}
