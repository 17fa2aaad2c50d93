#include "audit/entry.hpp"

#include <charconv>

#include <fmt/format.h>

namespace tenure::audit {
namespace {

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::string ToText(const Place& place) { return fmt::format("{}-{}", place.at_ms, place.sequence); }

std::optional<Place> ParsePlace(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto at_ms = ParseNumber(text.substr(0, dash));
  const auto sequence = ParseNumber(text.substr(dash + 1));
  if (!at_ms || !sequence) return std::nullopt;
  return Place{*at_ms, *sequence};
}

}  // namespace tenure::audit
