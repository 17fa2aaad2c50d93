#include "overview/instances.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "overview_sql/queries.hpp"

namespace tenure::overview {
namespace {

Instance ReadInstance(const db::Rows::Row& row) {
  return db::ReadAs<Instance>(row, &Instance::instance, &Instance::version, &Instance::host,
                              &Instance::started_ms, &Instance::seen_ms, &Instance::left_ms,
                              &Instance::workers, &Instance::requests_per_1000s,
                              &Instance::clock_gap_ms, &Instance::lanes);
}

}  // namespace

void BeatInstances(db::Transaction& tx, db::Items<BeatRequest, BeatReply> items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  for (auto* item : items) {
    Instance own = item->request.own;
    own.seen_ms = now_ms;
    own.left_ms = item->request.leaves ? now_ms : 0;
    own.clock_gap_ms -= now_ms;
    tx.Run(sql::kNoteInstance, std::string_view(own.instance), std::string_view(own.version),
           std::string_view(own.host), own.started_ms, own.seen_ms, own.left_ms,
           std::int64_t{own.workers}, own.requests_per_1000s, own.clock_gap_ms, own.lanes);
    tx.Run(sql::kForgetInstances, now_ms - kForgottenMs);
    BeatReply reply{.now_ms = now_ms};
    for (const auto row : tx.Run(sql::kListInstances)) reply.instances.push_back(ReadInstance(row));
    const bool known = std::ranges::any_of(
        reply.instances, [&](const Instance& each) { return each.instance == own.instance; });
    if (!known) reply.instances.push_back(std::move(own));
    item->reply = std::move(reply);
  }
}

void WriteInstance(base::JsonWriter& json, const Instance& instance) {
  json.BeginObject()
      .Field("instance", std::string_view(instance.instance))
      .Field("version", std::string_view(instance.version))
      .Field("host", std::string_view(instance.host));
  json.Key("started_at").Time(instance.started_ms).Key("last_seen_at").Time(instance.seen_ms);
  json.Key("left_at").TimeOrNull(instance.left_ms);
  json.Field("workers", instance.workers);
  json.Key("requests_per_second")
      .Raw(fmt::format("{}.{}", instance.requests_per_1000s / 1'000,
                       instance.requests_per_1000s / 100 % 10));
  json.Field("clock_gap_ms", instance.clock_gap_ms).Field("lanes", instance.lanes).EndObject();
}

}  // namespace tenure::overview
