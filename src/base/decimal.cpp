#include "base/decimal.hpp"

#include <fmt/format.h>

namespace tenure::base {
namespace {

constexpr std::int64_t kOne = 1'000'000;
constexpr std::int64_t kMostWhole = 1'000'000'000'000;
constexpr std::size_t kPlaces = 6;

/// Of digits only; empty for anything else, and beyond `kMostWhole`.
std::optional<std::int64_t> ParseDigits(std::string_view digits) {
  if (digits.empty()) return std::nullopt;
  std::int64_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
    if (number > kMostWhole) return std::nullopt;
  }
  return number;
}

}  // namespace

void AppendMillionths(std::string& out, std::int64_t millionths) {
  // The sign by itself: -0.5 has no whole part that could carry it.
  if (millionths < 0) out += '-';
  const std::uint64_t magnitude = millionths < 0
                                      ? std::uint64_t{0} - static_cast<std::uint64_t>(millionths)
                                      : static_cast<std::uint64_t>(millionths);
  fmt::format_to(std::back_inserter(out), "{}.{:06}", magnitude / kOne, magnitude % kOne);
}

std::string MillionthsText(std::int64_t millionths) {
  std::string out;
  AppendMillionths(out, millionths);
  return out;
}

std::optional<std::int64_t> ParseMillionths(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto whole = ParseDigits(text.substr(0, point));
  if (!whole) return std::nullopt;
  if (point == std::string_view::npos) return *whole * kOne;
  const std::string_view places = text.substr(point + 1);
  const auto fraction = ParseDigits(places);
  if (!fraction || places.size() > kPlaces) return std::nullopt;
  std::int64_t millionths = *fraction;
  for (std::size_t i = places.size(); i < kPlaces; ++i) millionths *= 10;
  return *whole * kOne + millionths;
}

}  // namespace tenure::base
