#include "base/time_parse.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

namespace tenure::base {
namespace {

/// The decimal number in `count` characters from `at`; empty when they are not all digits.
std::optional<int> Digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

struct Parts {
  std::optional<int> year, month, day, hour, minute, second;
};

std::optional<std::int64_t> Instant(const Parts& parts) {
  using namespace std::chrono;
  if (!parts.year || !parts.month || !parts.day || !parts.hour || !parts.minute || !parts.second)
    return std::nullopt;
  const year_month_day date{year{*parts.year}, month{static_cast<unsigned>(*parts.month)},
                            day{static_cast<unsigned>(*parts.day)}};
  if (!date.ok() || *parts.hour > 23 || *parts.minute > 59 || *parts.second > 60)
    return std::nullopt;
  const auto at =
      sys_days{date} + hours{*parts.hour} + minutes{*parts.minute} + seconds{*parts.second};
  return duration_cast<milliseconds>(at.time_since_epoch()).count();
}

constexpr std::string_view kShape = "____-__-__T__:__:__";

/// What all spellings begin with; between the date and the time stands one of `between`.
std::optional<std::int64_t> WholeSeconds(std::string_view text, std::string_view between) {
  if (text.size() < kShape.size()) return std::nullopt;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == '_') continue;
    if (kShape[i] == 'T' ? between.find(text[i]) == std::string_view::npos : kShape[i] != text[i])
      return std::nullopt;
  }
  return Instant({Digits(text, 0, 4), Digits(text, 5, 2), Digits(text, 8, 2), Digits(text, 11, 2),
                  Digits(text, 14, 2), Digits(text, 17, 2)});
}

}  // namespace

std::optional<std::int64_t> ParseUtcMs(std::string_view text) {
  const auto whole = WholeSeconds(text, "T");
  if (!whole || !text.ends_with('Z')) return std::nullopt;
  if (text.size() == kShape.size() + 1) return whole;
  const auto fraction = Digits(text, kShape.size() + 1, 3);
  if (text.size() != kShape.size() + 5 || text[kShape.size()] != '.' || !fraction)
    return std::nullopt;
  return *whole + *fraction;
}

std::optional<std::int64_t> ParseRfc3339Ms(std::string_view text) {
  auto ms = WholeSeconds(text, "Tt");
  if (!ms) return std::nullopt;
  text.remove_prefix(kShape.size());
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    if (digits == 0) return std::nullopt;
    for (std::size_t i = 0, unit = 100; i < std::min<std::size_t>(digits, 3); ++i, unit /= 10)
      *ms += static_cast<std::int64_t>(unit) * (text[i] - '0');
    text.remove_prefix(digits);
  }
  if (text == "Z" || text == "z") return ms;
  const auto hours = Digits(text, 1, 2);
  const auto minutes = Digits(text, 4, 2);
  const bool offset = text.size() == 6 && (text[0] == '+' || text[0] == '-') && text[3] == ':';
  if (!offset || !hours || !minutes || *hours > 23 || *minutes > 59) return std::nullopt;
  const std::int64_t ahead_ms = (*hours * 60 + *minutes) * 60'000LL;
  return text[0] == '+' ? *ms - ahead_ms : *ms + ahead_ms;
}

std::optional<std::int64_t> ParseHttpDateMs(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kMonths{
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || !text.ends_with(" GMT")) return std::nullopt;
  const auto* name = std::ranges::find(kMonths, text.substr(8, 3));
  if (name == kMonths.end()) return std::nullopt;
  return Instant({Digits(text, 12, 4), static_cast<int>(name - kMonths.begin()) + 1,
                  Digits(text, 5, 2), Digits(text, 17, 2), Digits(text, 20, 2),
                  Digits(text, 23, 2)});
}

std::string SpanText(std::int64_t ms) {
  struct Unit {
    std::int64_t ms;
    char name;
  };
  static constexpr std::array<Unit, 4> kUnits{
      {{86'400'000, 'd'}, {3'600'000, 'h'}, {60'000, 'm'}, {1'000, 's'}}};
  for (std::size_t i = 0; i + 1 < kUnits.size(); ++i) {
    if (ms < kUnits[i].ms) continue;
    return fmt::format("{}{} {}{}", ms / kUnits[i].ms, kUnits[i].name,
                       ms % kUnits[i].ms / kUnits[i + 1].ms, kUnits[i + 1].name);
  }
  return fmt::format("{}s", std::max<std::int64_t>(ms, 0) / 1'000);
}

}  // namespace tenure::base
