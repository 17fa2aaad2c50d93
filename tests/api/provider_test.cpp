// The conformance suite of leases over HTTP: a Tenure server on each store.

#include "api/store_under_test.hpp"
#include "tenure/leases/conformance.hpp"

namespace tenure::leases::conformance {
namespace {

Subject ServerSubject(const std::string& name, api::Engine engine) {
  return {.name = name,
          .open = [engine] { return OpenProvider(api::SharedServer(engine).Url()); },
          .advance = [](Milliseconds time) { std::this_thread::sleep_for(time); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Servers, LeaseConformance,
                         ::testing::Values(ServerSubject("sqlite", api::Engine::kSqlite),
                                           ServerSubject("postgres", api::Engine::kPostgres)),
                         [](const auto& one) { return one.param.name; });

}  // namespace tenure::leases::conformance
