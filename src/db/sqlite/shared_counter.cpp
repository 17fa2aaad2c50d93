// A process for tests: counts in a shared file, in the row `counter` of its settings, and says each
// number after its commit. Arguments: the file, how often. Sets the file up where it is new.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "db/migrations.hpp"
#include "db/sqlite/shared_engine.hpp"
#include "db/transaction.hpp"

namespace {

using tenure::base::Fault;
using tenure::base::FaultKind;

const tenure::db::Query kRead{"test.read", "", "select value from settings where name = 'counter'"};
// Two statements on purpose: it is the transaction that makes them one step.
const tenure::db::Query kWrite{"test.write", "",
                               "insert into settings (name, value) values ('counter', ?1) "
                               "on conflict (name) do update set value = excluded.value"};

std::int64_t Count(tenure::db::Connection& connection) {
  tenure::db::Transaction tx(connection, tenure::db::Access::kWrite);
  const auto rows = tx.Run(kRead);
  const std::int64_t next = rows.empty() ? 1 : std::stoll(std::string(rows[0].Text(0))) + 1;
  tx.Run(kWrite, std::string_view(std::to_string(next)));
  tx.Commit();
  return next;
}

}  // namespace

int main(int, char** arguments) {
  tenure::telemetry::Registry metrics;
  const auto engine =
      tenure::db::sqlite::MakeSharedEngine(arguments[1], tenure::base::SystemClock(), metrics);
  tenure::db::Migrate(*engine);
  const auto connection = engine->NewConnection(tenure::db::Access::kWrite);
  connection->Open();
  std::printf("incarnation %lld\n", static_cast<long long>(engine->incarnation()));
  for (int left = std::atoi(arguments[2]); left > 0;) {
    try {
      std::printf("counted %lld\n", static_cast<long long>(Count(*connection)));
      std::fflush(stdout);
      --left;
    } catch (const Fault& fault) {
      if (fault.kind() != FaultKind::kContended) throw;
    }
  }
}
