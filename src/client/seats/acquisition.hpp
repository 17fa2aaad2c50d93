#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace tenure::client {

using Milliseconds = std::chrono::milliseconds;

/// When an acquisition of a seat asks again. Pure: no I/O, thread or clock.
///
///  - Who waits asks with the server's own wait, at most 30 s at a time, and at once again when it
///    ended: the place in the line is kept for a few seconds only.
///  - Who does not wait asks again when all are taken after the time that the server names, a few
///    times; then it is over.
///  - A server that cannot be reached, or is busy, is asked again with growing pauses while there is
///    time to wait. Without time only an answer that was lost is asked for once more, because the
///    seat may have been given. A holder that lost its seat goes on for ever: a laptop that was
///    offline gets its seat when it is back.
///  - Every other refusal is final.
///
/// Times passed in never go back.
class SeatAcquisition {
 public:
  struct Rules {
    Milliseconds wait{0};
    int tries_when_in_use = 3;
    bool is_patient = false;  ///< goes on for ever when the server cannot be reached
  };
  SeatAcquisition(const Rules& rules, std::int64_t now_ms, std::uint64_t seed);

  /// For the next question.
  int WaitSeconds(std::int64_t now_ms) const;
  /// A question goes out.
  void Asked(std::int64_t now_ms);

  /// When to ask again; nothing: it is over.
  using Next = std::optional<std::int64_t>;
  Next AfterTicket(std::int64_t now_ms);
  Next AfterInUse(std::int64_t now_ms, Milliseconds retry_after);
  Next AfterFailure(std::int64_t now_ms, bool outcome_unknown, Milliseconds retry_after);

 private:
  /// `ms`, less up to half of it.
  std::int64_t Jittered(std::int64_t ms);
  Next Within(std::int64_t at_ms) const;

  const Rules rules_;
  const std::int64_t deadline_ms_;
  std::uint64_t random_;
  std::int64_t asked_ms_ = 0;
  std::int64_t pause_ms_ = 0;
  int in_use_ = 0;
  int failures_ = 0;
};

}  // namespace tenure::client
