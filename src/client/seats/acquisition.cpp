#include "client/seats/acquisition.hpp"

#include <algorithm>

namespace tenure::client {
namespace {

constexpr std::int64_t kLongestAskMs = 30'000;  // the server's own bound
constexpr std::int64_t kFirstPauseAfterFailureMs = 500;
constexpr std::int64_t kLongestPauseAfterFailureMs = 30'000;
/// A server that does not wait although it was asked to is not asked more often than this.
constexpr std::int64_t kLeastBetweenAsksMs = 1'000;
/// No server is believed that wants to be left alone for longer.
constexpr std::int64_t kLongestRetryAfterMs = 120'000;

}  // namespace

SeatAcquisition::SeatAcquisition(const Rules& rules, std::int64_t now_ms, std::uint64_t seed)
    : rules_(rules), deadline_ms_(now_ms + rules.wait.count()), random_(seed) {}

int SeatAcquisition::WaitSeconds(std::int64_t now_ms) const {
  const std::int64_t left_ms = std::clamp<std::int64_t>(deadline_ms_ - now_ms, 0, kLongestAskMs);
  return static_cast<int>((left_ms + 999) / 1'000);
}

void SeatAcquisition::Asked(std::int64_t now_ms) { asked_ms_ = now_ms; }

SeatAcquisition::Next SeatAcquisition::AfterTicket(std::int64_t now_ms) {
  pause_ms_ = 0;
  return Within(std::max(now_ms, asked_ms_ + kLeastBetweenAsksMs));
}

SeatAcquisition::Next SeatAcquisition::AfterInUse(std::int64_t now_ms, Milliseconds retry_after) {
  pause_ms_ = 0;
  const std::int64_t at_ms =
      now_ms + std::clamp(retry_after.count(), kLeastBetweenAsksMs, kLongestRetryAfterMs);
  if (rules_.wait.count() > 0) return Within(at_ms);
  if (in_use_++ >= rules_.tries_when_in_use) return std::nullopt;
  return at_ms;
}

SeatAcquisition::Next SeatAcquisition::AfterFailure(std::int64_t now_ms, bool outcome_unknown,
                                                    Milliseconds retry_after) {
  ++failures_;
  pause_ms_ = std::clamp(pause_ms_ * 2, kFirstPauseAfterFailureMs, kLongestPauseAfterFailureMs);
  const std::int64_t at_ms =
      now_ms + std::max(Jittered(pause_ms_), std::min(retry_after.count(), kLongestRetryAfterMs));
  if (rules_.is_patient) return at_ms;
  if (rules_.wait.count() > 0) return Within(at_ms);
  return outcome_unknown && failures_ == 1 ? Next(now_ms) : std::nullopt;
}

SeatAcquisition::Next SeatAcquisition::Within(std::int64_t at_ms) const {
  if (at_ms >= deadline_ms_) return std::nullopt;
  return at_ms;
}

std::int64_t SeatAcquisition::Jittered(std::int64_t ms) {
  random_ = random_ * 6364136223846793005ULL + 1442695040888963407ULL;
  return ms - (ms / 2) * static_cast<std::int64_t>(random_ >> 56) / 255;
}

}  // namespace tenure::client
