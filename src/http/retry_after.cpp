#include "http/retry_after.hpp"

#include <algorithm>
#include <charconv>

#include "base/time_text.hpp"

namespace tenure::http {
namespace {

constexpr std::int64_t kMaxRetryAfterMs = 24LL * 60 * 60 * 1'000;

}  // namespace

std::optional<std::int64_t> ParseRetryAfterMs(std::string_view text, std::int64_t now_ms) {
  if (const auto date_ms = base::ParseHttpDateMs(text))
    return std::clamp<std::int64_t>(*date_ms - now_ms, 0, kMaxRetryAfterMs);
  const bool digits =
      !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits) return std::nullopt;
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc{}) return kMaxRetryAfterMs;  // more digits than a number holds
  return std::min(seconds, kMaxRetryAfterMs / 1'000) * 1'000;
}

}  // namespace tenure::http
