#include "usage/seal.hpp"

#include "sessions/bounds.hpp"
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

std::vector<Factor> SeedAndLoadFactors(db::Transaction& tx, const SeedFactors& seed,
                                       std::int64_t now_ms) {
  std::vector<Factor> factors;
  TakeFactors(tx.Run(sql::kLoadFactors), &factors);
  if (!factors.empty()) return factors;
  std::vector<std::int64_t> kinds, from, values;
  for (int kind = 1; kind <= kKinds; ++kind) {
    const std::int64_t value = seed[static_cast<std::size_t>(kind - 1)];
    factors.push_back({kind, 0, value, now_ms});
    kinds.push_back(kind);
    from.push_back(0);
    values.push_back(value);
  }
  tx.Queue(sql::kPutFactors, kinds, from, values, now_ms);
  return factors;
}

}  // namespace tenure::usage
