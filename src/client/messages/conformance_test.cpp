// The conformance suite of message backends on stores of our own. (Over HTTP: tests/api.)

#include "client/messages/test/conformance.hpp"

#include "client/messages/test/place.hpp"

namespace tenure::messages::conformance {
namespace {

using client::Place;
using client::PlaceKind;

template <PlaceKind kKind>
Place& SharedPlace() {
  static Place place(kKind);
  return place;
}

template <PlaceKind kKind>
Subject StoreSubject(const std::string& name) {
  return {.name = name,
          .url = [] { return SharedPlace<kKind>().url(); },
          .pooled = kKind == PlaceKind::kPooledPostgres,
          .drop_backoff =
              [](const std::string& topic) {
                SharedPlace<kKind>().ChangeTopic({.name = topic, .backoff_ms = 1});
              },
          .dead =
              [](const std::string& topic) {
                std::vector<DeadLetter> letters;
                for (const auto& each : SharedPlace<kKind>().Dead(topic).rows)
                  letters.push_back({each.id.ToString(), each.error});
                return letters;
              }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    Stores, MessageConformance,
    ::testing::Values(StoreSubject<PlaceKind::kSqlite>("Sqlite"),
                      StoreSubject<PlaceKind::kPostgres>("Postgres"),
                      StoreSubject<PlaceKind::kPooledPostgres>("PooledPostgres")),
    [](const auto& one) { return one.param.name; });

}  // namespace tenure::messages::conformance
