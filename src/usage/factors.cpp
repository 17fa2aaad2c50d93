#include "usage/factors.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/decimal.hpp"
#include "base/json_writer.hpp"
#include "sessions/bounds.hpp"
#include "usage_sql/queries.hpp"

namespace tenure::usage {
namespace {

db::Deed DeedOf(const Factor& before, const Factor& now) {
  db::Deed deed{std::to_string(now.kind), ""};
  base::JsonWriter json(deed.detail);
  json.BeginObject()
      .Field("old", base::MillionthsText(before.millionths))
      .Field("new", base::MillionthsText(now.millionths));
  json.Key("from").Time(now.from_ms).EndObject();
  return deed;
}

}  // namespace

void FactorsHandler::ReadItems(db::Transaction& tx, Items items) {
  FactorsReply reply;
  TakeFactors(tx.Run(sql::kLoadFactors), &reply.factors);
  for (auto* item : items) item->reply = reply;
}

void SetFactorHandler::WriteItems(db::Transaction& tx, Items items) {
  sessions::LockSeal(tx);
  const std::int64_t sealed_ms = sessions::ReadBounds(tx).sealed_ms;
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::map<int, Factor> latest;  // by kind
  for (const Factor& factor : SeedAndLoadFactors(tx, items.front()->request.seed, now_ms))
    latest[factor.kind] = factor;
  std::map<std::pair<int, std::int64_t>, std::int64_t> changes;  // the last word for each counts
  for (auto* item : items) {
    const SetFactorRequest& request = item->request;
    Factor& factor = latest[request.kind];
    if (factor.millionths != request.millionths) {
      // The window under way began at sealed_ms or, before the first, at a boundary not after now.
      const std::int64_t from_ms = NextBoundary(std::max(now_ms, sealed_ms), request.interval_ms);
      const Factor before = std::exchange(
          factor, {request.kind, std::max(factor.from_ms, from_ms), request.millionths, now_ms});
      item->Did(DeedOf(before, factor));
      changes[{factor.kind, factor.from_ms}] = factor.millionths;
    }
    item->reply = SetFactorReply{factor};
  }
  std::vector<std::int64_t> kinds, from, values;
  for (const auto& [key, value] : changes) {
    kinds.push_back(key.first);
    from.push_back(key.second);
    values.push_back(value);
  }
  tx.Queue(sql::kPutFactors, kinds, from, values, now_ms);
}

}  // namespace tenure::usage
