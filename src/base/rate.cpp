#include "base/rate.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace tenure::base {
namespace {

struct RateUnit {
  std::string_view name;
  std::int64_t ms;
};
constexpr std::array<RateUnit, 3> kRateUnits{{{"s", 1'000}, {"min", 60'000}, {"h", 3'600'000}}};

}  // namespace

std::optional<Rate> ParseRate(std::string_view text) {
  if (text.empty() || text == "off") return Rate{};
  Rate rate;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, rate.count);
  if (error != std::errc{} || rate.count < 1 || rate.count > Rate::kMaxCount) return std::nullopt;
  const std::string_view rest(stopped, static_cast<std::size_t>(end - stopped));
  for (const RateUnit& unit : kRateUnits)
    if (rest.starts_with('/') && rest.substr(1) == unit.name) rate.per_ms = unit.ms;
  if (rate.per_ms == 0) return std::nullopt;
  return rate;
}

std::string RateText(const Rate& rate) {
  for (const RateUnit& unit : kRateUnits)
    if (rate.limits() && rate.per_ms == unit.ms) return fmt::format("{}/{}", rate.count, unit.name);
  return "off";
}

}  // namespace tenure::base
