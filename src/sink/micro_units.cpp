#include "sink/micro_units.hpp"

#include <charconv>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tenure::sink {
namespace {

constexpr std::int64_t kMicrosPerUnit = 1'000'000;
constexpr std::size_t kPlaces = 6;
constexpr std::size_t kMostDigits = 18;  // fits 64 bits

}  // namespace

std::optional<std::int64_t> ParseMicros(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot == 0 || text.size() != dot + 1 + kPlaces)
    return std::nullopt;
  if (text.size() > kMostDigits + 1 || (dot > 1 && text.front() == '0')) return std::nullopt;
  const std::string digits = std::string(text.substr(0, dot)) + std::string(text.substr(dot + 1));
  if (digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  std::int64_t micros = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), micros);
  return micros;
}

std::string MicrosText(std::int64_t micros) {
  TENURE_CHECK(micros >= 0, "usage is not negative");
  return fmt::format("{}.{:06}", micros / kMicrosPerUnit, micros % kMicrosPerUnit);
}

}  // namespace tenure::sink
