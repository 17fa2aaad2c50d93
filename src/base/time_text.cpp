#include "base/time_text.hpp"

#include <array>
#include <chrono>
#include <span>

#include <fmt/format.h>

#include "base/error.hpp"

namespace tenure::base {
namespace {

constexpr std::int64_t kMaxDurationMs = std::int64_t{100} * 366 * 86'400'000;

struct Unit {
  std::string_view name;
  std::int64_t ms;
};

// From long to short: DurationText peels them off in this order.
constexpr std::array<Unit, 5> kUnits{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};

/// Adds one "number unit" pair from the front of `text` to `total_ms`; false when there is none.
/// `units` are tried longest name first.
bool TakePair(std::string_view& text, std::span<const Unit> units, std::int64_t& total_ms) {
  std::int64_t number = 0;
  std::size_t digits = 0;
  while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
    number = number * 10 + (text[digits] - '0');
    if (++digits > 15) return false;
  }
  if (digits == 0) return false;
  text.remove_prefix(digits);
  const Unit* match = nullptr;
  for (const Unit& unit : units)
    if (text.starts_with(unit.name) && (!match || unit.name.size() > match->name.size()))
      match = &unit;
  if (!match) return false;
  text.remove_prefix(match->name.size());
  if (number > kMaxDurationMs / match->ms) return false;
  total_ms += number * match->ms;
  return total_ms <= kMaxDurationMs;
}

std::optional<std::int64_t> ParseIso(std::string_view text) {
  static constexpr std::array<Unit, 2> kDates{{{"W", 7 * 86'400'000LL}, {"D", 86'400'000}}};
  static constexpr std::array<Unit, 3> kTimes{{{"H", 3'600'000}, {"M", 60'000}, {"S", 1'000}}};
  text.remove_prefix(1);
  std::int64_t total_ms = 0;
  bool any = false;
  while (!text.empty() && text.front() != 'T') {
    if (!TakePair(text, kDates, total_ms)) return std::nullopt;
    any = true;
  }
  if (!text.empty()) {
    text.remove_prefix(1);
    if (text.empty()) return std::nullopt;
    while (!text.empty()) {
      if (!TakePair(text, kTimes, total_ms)) return std::nullopt;
      any = true;
    }
  }
  if (!any) return std::nullopt;
  return total_ms;
}

/// The last `width` decimal digits of `value`, with zeros in front.
void WriteDigits(char* to, int width, unsigned value) {
  for (int i = width; i-- > 0; value /= 10) to[i] = static_cast<char>('0' + value % 10);
}

}  // namespace

void AppendUtc(std::string& out, std::int64_t ms) {
  TENURE_CHECK(ms >= 0 && ms < 253'402'300'800'000, "time outside of what is printed");
  using namespace std::chrono;
  const sys_time<milliseconds> at{milliseconds{ms}};
  const auto day = floor<days>(at);
  const year_month_day date{day};
  // By hand: it stands in every answer, and a format string costs a third of a request.
  char text[] = "0000-00-00T00:00:00.000Z";
  const auto ms_of_day = static_cast<unsigned>((at - day).count());
  WriteDigits(text + 0, 4, static_cast<unsigned>(static_cast<int>(date.year())));
  WriteDigits(text + 5, 2, static_cast<unsigned>(date.month()));
  WriteDigits(text + 8, 2, static_cast<unsigned>(date.day()));
  WriteDigits(text + 11, 2, ms_of_day / 3'600'000);
  WriteDigits(text + 14, 2, ms_of_day / 60'000 % 60);
  WriteDigits(text + 17, 2, ms_of_day / 1'000 % 60);
  WriteDigits(text + 20, 3, ms_of_day % 1'000);
  out.append(text, sizeof text - 1);
}

std::string UtcText(std::int64_t ms) {
  std::string out;
  AppendUtc(out, ms);
  return out;
}

std::optional<std::int64_t> ParseDurationMs(std::string_view text) {
  if (text.starts_with('P')) return ParseIso(text);
  std::int64_t total_ms = 0;
  if (text.empty()) return std::nullopt;
  while (!text.empty())
    if (!TakePair(text, kUnits, total_ms)) return std::nullopt;
  return total_ms;
}

std::string DurationText(std::int64_t ms) {
  if (ms == 0) return "0s";
  std::string out;
  for (const Unit& unit : kUnits) {
    const std::int64_t count = ms / unit.ms;
    if (count == 0) continue;
    out += fmt::format("{}{}", count, unit.name);
    ms -= count * unit.ms;
  }
  return out;
}

}  // namespace tenure::base
