// The conformance suite on the stores that Tenure brings. (Over HTTP: tests/api/conformance_test.cpp.)

#include "support/postgres_cluster.hpp"
#include "support/temp_dir.hpp"
#include "tenure/leases/conformance.hpp"

namespace tenure::leases::conformance {
namespace {

void ReallyWait(Milliseconds time) { std::this_thread::sleep_for(time); }

Subject SqliteSubject() {
  return {.name = "sqlite",
          .open =
              [] {
                static const support::TempDir dir;
                return OpenProvider("sqlite://" + (dir.path() / "leases.db").string());
              },
          .advance = ReallyWait};
}

Subject PostgresSubject() {
  return {.name = "postgres",
          .open =
              [] {
                static const std::string url =
                    support::SharedPostgres().Url(support::SharedPostgres().CreateDatabase());
                return OpenProvider(url);
              },
          .advance = ReallyWait};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Stores, LeaseConformance,
                         ::testing::Values(SqliteSubject(), PostgresSubject()),
                         [](const auto& one) { return one.param.name; });

}  // namespace tenure::leases::conformance
