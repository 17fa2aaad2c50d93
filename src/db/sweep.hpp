#pragma once

#include <cstddef>
#include <cstdint>

#include "db/operation.hpp"

namespace tenure::db {

/// How many rows one statement of a sweep touches: short enough not to hold up the lane that it
/// shares with requests.
inline constexpr std::int64_t kSweepRows = 500;

/// What one batch of a sweep did. Whoever sweeps repeats while `has_more`.
struct Swept {
  std::int64_t rows = 0;
  bool has_more = false;  ///< a statement touched as many rows as it may

  /// Adds what a statement did.
  Swept& Add(std::size_t touched) {
    rows += static_cast<std::int64_t>(touched);
    has_more |= static_cast<std::int64_t>(touched) >= kSweepRows;
    return *this;
  }
};

/// One bounded batch of what a reliable task repeats: marks what is overdue, forgets what was kept
/// long enough. The clock is read before the locks, which is right here: what is over stays over.
template <class Request, class Reply = Swept>
class SweepHandler : public TypedHandler<Request, Reply> {
 public:
  using Items = typename TypedHandler<Request, Reply>::Items;
  LaneName lane() const override { return LaneName::Shared(0); }

 protected:
  virtual Reply Sweep(Transaction& tx, const Request& request, std::int64_t now_ms) = 0;

 private:
  void WriteItems(Transaction& tx, Items items) final {
    const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
    for (auto* item : items) item->reply = Sweep(tx, item->request, now_ms);
  }
};

}  // namespace tenure::db
