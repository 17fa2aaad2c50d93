#pragma once

#include <cstdint>
#include <string_view>

#include "push/answer.hpp"

namespace tenure::push {

enum class CircuitState { kOk, kBackingOff, kOpen };
std::string_view ToText(CircuitState state);

/// When an endpoint may be asked again, as it is on record. Times are of one clock, whichever.
struct CircuitRow {
  std::int64_t failures = 0;  ///< of the endpoint, in a row
  std::int64_t next_ms = 0;   ///< nothing is begun before

  friend bool operator==(const CircuitRow&, const CircuitRow&) = default;
};

/// Decides how much may be begun at an endpoint; a rule book without I/O and without a clock.
///
///  - While all is well, as many as the subscription allows.
///  - After a failure of the endpoint nothing is begun for 1 s, 2 s … 30 s; then one at a time until one is
///    acknowledged. Requests that were under way when a failure was counted belong to that failure: a
///    receiver that restarts under 16 requests has failed once.
///  - After kOpenAfter failures the circuit is open: one probe after 30 s, 60 s … 10 min.
///  - A pause that the endpoint asks for holds everything for so long, and is no failure.
///
/// It is known after a crash as it was last written down; the loss of a failure makes somebody ask once
/// more.
class Circuit {
 public:
  static constexpr std::int64_t kOpenAfter = 10;
  static constexpr std::int64_t kBackoffMs = 1'000;
  static constexpr std::int64_t kBackoffMaxMs = 30'000;
  static constexpr std::int64_t kProbeMs = 30'000;
  static constexpr std::int64_t kProbeMaxMs = 600'000;

  explicit Circuit(const CircuitRow& row = {}) : row_(row) {}

  /// Which failures a request that begins now knows of.
  using Ticket = std::int64_t;
  Ticket Begin() const { return generation_; }
  /// What became of it. Returns whether what is on record has changed.
  bool End(Ticket ticket, const Judgement& judgement, std::int64_t now_ms);

  /// How many requests may be under way together. 0: none until `row().next_ms`.
  std::int64_t MayBeUnderWay(std::int64_t max_in_flight, std::int64_t now_ms) const;

  CircuitState StateAt(std::int64_t now_ms) const { return StateOf(row_, now_ms); }
  static CircuitState StateOf(const CircuitRow& row, std::int64_t now_ms);
  const CircuitRow& row() const { return row_; }

 private:
  CircuitRow row_;
  Ticket generation_ = 0;
};

/// How long nothing is begun after the nth failure in a row.
std::int64_t PauseAfterFailures(std::int64_t failures);

}  // namespace tenure::push
