#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::base {

/// So many in so much time, or no limit.
struct Rate {
  static constexpr std::int64_t kMaxCount = 1'000'000;

  std::int64_t count = 0;   ///< 0: no limit
  std::int64_t per_ms = 0;  ///< a second, a minute or an hour

  bool limits() const { return count > 0; }

  friend bool operator==(const Rate&, const Rate&) = default;
};

/// "100/s", "6000/min", "10/h" with 1 to kMaxCount; "off" or nothing: no limit.
std::optional<Rate> ParseRate(std::string_view text);
std::string RateText(const Rate& rate);

}  // namespace tenure::base
