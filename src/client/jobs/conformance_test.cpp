// The conformance suite of jobs on stores of our own. (Over HTTP: tests/api.)

#include "client/jobs/test/conformance.hpp"

#include "client/messages/test/place.hpp"

namespace tenure::jobs::conformance {
namespace {

using client::Place;
using client::PlaceKind;

template <PlaceKind kKind>
Subject JobsOnStore(const std::string& name) {
  return {.name = name,
          .url =
              [] {
                static Place place(kKind);
                return place.url();
              },
          .pooled = kKind == PlaceKind::kPooledPostgres};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    Stores, JobConformance,
    ::testing::Values(JobsOnStore<PlaceKind::kSqlite>("Sqlite"),
                      JobsOnStore<PlaceKind::kPostgres>("Postgres"),
                      JobsOnStore<PlaceKind::kPooledPostgres>("PooledPostgres")),
    [](const auto& one) { return one.param.name; });

}  // namespace tenure::jobs::conformance
