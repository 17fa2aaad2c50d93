#include "usage/seal.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/decimal.hpp"
#include "base/json_writer.hpp"
#include "sessions/usage_seal.hpp"
#include "usage_sql/queries.hpp"

namespace tenure::usage {
namespace {

/// What decides about the next window.
struct Horizon {
  std::optional<Window> last;
  std::optional<std::int64_t> first_start_ms;
  std::int64_t now_ms = 0;

  /// The next window, when its end has come.
  std::optional<Window> Due(std::int64_t interval_ms) const {
    Window next;
    if (last) {
      next.number = last->number + 1;
      next.start_ms = last->end_ms;
    } else if (first_start_ms) {
      next.number = 1;
      next.start_ms = *first_start_ms / interval_ms * interval_ms;
    } else {
      return std::nullopt;
    }
    next.end_ms = NextBoundary(next.start_ms, interval_ms);
    if (now_ms < next.end_ms) return std::nullopt;
    return next;
  }
};

Horizon ReadHorizon(db::Transaction& tx) {
  const auto last = tx.Queue(sql::kReadLastWindow);
  const auto first = tx.Queue(sql::kReadFirstStart);
  const auto clock = tx.QueueClock();
  Horizon horizon;
  horizon.last = ReadWindow(tx.Take(last));
  if (const db::Rows rows = tx.Take(first); !rows.empty()) horizon.first_start_ms = rows[0].Int(0);
  horizon.now_ms = tx.TakeClock(clock);
  return horizon;
}

/// Writes the factors of the configuration where the store has none. Returns what is there then.
/// REQUIRES: under the seal.
std::vector<Factor> SeedAndLoadFactors(db::Transaction& tx, const SeedFactors& seed,
                                       std::int64_t now_ms) {
  std::vector<Factor> factors;
  TakeFactors(tx.Run(sql::kLoadFactors), &factors);
  if (!factors.empty()) return factors;
  for (int kind = 1; kind <= kKinds; ++kind)
    factors.push_back({kind, 0, seed[static_cast<std::size_t>(kind - 1)], now_ms});
  tx.Queue(sql::kPutFactors,
           db::Columns(factors, &Factor::kind, &Factor::from_ms, &Factor::millionths), now_ms);
  return factors;
}

db::AuditEvent AuditEventOf(const Factor& before, const Factor& now) {
  db::AuditEvent event{std::to_string(now.kind), ""};
  base::JsonWriter json(event.detail);
  json.BeginObject()
      .Field("old", base::MillionthsText(before.millionths))
      .Field("new", base::MillionthsText(now.millionths));
  json.Key("from").Time(now.from_ms).EndObject();
  return event;
}

/// The number of the first window that is not settled. REQUIRES: LockUsageSeal was called.
std::int64_t Settle(db::Transaction& tx) {
  // sealed_ms first: a window that is closed between the two looks may be pending, and begins
  // there.
  const std::int64_t sealed_ms = sessions::ReadUsageSeal(tx).sealed_ms;
  const db::Rows pending = tx.Run(sql::kFindSettled);
  sessions::SetSettled(tx, pending.empty() ? sealed_ms : std::min(sealed_ms, pending[0].Int(1)));
  return pending.empty() ? std::numeric_limits<std::int64_t>::max() : pending[0].Int(0);
}

}  // namespace

void SealHandler::ReadItems(db::Transaction& tx, Items items) {
  const Horizon horizon = ReadHorizon(tx);
  for (auto* item : items)
    if (!horizon.Due(item->request.interval_ms)) item->reply = SealReply{};
}

void SealHandler::WriteItems(db::Transaction& tx, Items items) {
  sessions::LockSeal(tx);
  const auto incarnation = tx.Queue(sql::kReadIncarnation);
  Horizon horizon = ReadHorizon(tx);
  const std::int64_t incarnation_now = tx.Take(incarnation)[0].Int(0);
  for (auto* item : items) {
    auto next = horizon.Due(item->request.interval_ms);
    item->reply = SealReply{};
    if (!next) continue;
    SeedAndLoadFactors(tx, item->request.factors, horizon.now_ms);
    next->sealed_ms = horizon.now_ms;
    next->incarnation = incarnation_now;
    next->state = item->request.send ? WindowState::kEmitting : WindowState::kClosed;
    tx.Queue(sql::kInsertWindow, next->number, next->start_ms, next->end_ms, next->sealed_ms,
             next->incarnation, static_cast<std::int64_t>(next->state));
    sessions::RaiseSeal(tx, next->end_ms);
    item->reply->sealed = next;
    horizon.last = next;
  }
}

void SetFactors(db::Transaction& tx, db::Items<SetFactorRequest, SetFactorReply> items) {
  sessions::LockSeal(tx);
  const std::int64_t sealed_ms = sessions::ReadUsageSeal(tx).sealed_ms;
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
      item->Did(AuditEventOf(before, factor));
      changes[{factor.kind, factor.from_ms}] = factor.millionths;
    }
    item->reply = SetFactorReply{factor};
  }
  using Change = decltype(changes)::value_type;
  using KindFrom = decltype(changes)::key_type;
  tx.Queue(sql::kPutFactors,
           db::Columns(changes, db::Inside(&Change::first, &KindFrom::first, &KindFrom::second),
                       &Change::second),
           now_ms);
}

db::Swept SettleAndForget(db::Transaction& tx, const TidyRequest& request, std::int64_t now_ms) {
  sessions::LockUsageSeal(tx);
  const std::int64_t first_pending = Settle(tx);
  return db::Swept().Add(
      tx.Run(sql::kForgetWindows, now_ms - request.retention_ms, first_pending, db::kSweepRows)
          .size());
}

void ReopenWindows(db::Transaction& tx, db::Items<SendRequest, SendReply> items) {
  const sessions::UsageSeal seal = sessions::LockUsageSeal(tx);
  for (auto* item : items) {
    const std::int64_t from = item->request.from;
    const SendReply reply{
        static_cast<std::int64_t>(tx.Run(sql::kReopenWindows, from, seal.removed_ms).size())};
    if (reply.windows > 0)
      item->Did({std::to_string(from),
                 fmt::format(R"({{"from_window":{},"windows":{}}})", from, reply.windows)});
    item->reply = reply;
  }
  Settle(tx);
}

}  // namespace tenure::usage
