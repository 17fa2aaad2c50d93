#include "app/cli/flag_values.hpp"

#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "app/cli/usage_error.hpp"
#include "base/time_text.hpp"
#include "config/printable.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::app {

base::Uuid UuidFlag(std::string_view flag, std::string_view text) {
  if (const auto id = base::Uuid::Parse(text)) return *id;
  throw UsageError(fmt::format("{}: {} is not a UUID, like 6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30",
                               flag, config::Quoted(text)));
}

std::int64_t DurationFlag(std::string_view flag, std::string_view text,
                          const DurationBounds& bounds) {
  const auto ms = base::ParseDurationMs(text);
  if (ms && *ms >= bounds.least_ms && *ms <= bounds.most_ms) return *ms;
  throw UsageError(fmt::format("{}: {} is not a duration from {} to {}", flag, config::Quoted(text),
                               base::DurationText(bounds.least_ms),
                               base::DurationText(bounds.most_ms)));
}

int NumberFlag(std::string_view flag, std::string_view text, const NumberBounds& bounds) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec == std::errc{} && parsed.ptr == end && number >= bounds.least &&
      number <= bounds.most)
    return number;
  throw UsageError(fmt::format("{}: {} is not a number from {} to {}", flag, config::Quoted(text),
                               bounds.least, bounds.most));
}

std::string LeasePath(std::string_view name) {
  if (!leases::IsLeaseName(name))
    throw UsageError(fmt::format("{} is no lease's name: 1 to {} of A-Z a-z 0-9 . _ : / @ -",
                                 config::Quoted(name), leases::kMaxNameBytes));
  return "/api/v1/leases/" + PercentEncoded(name);
}

std::string PercentEncoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '-' || c == '.' || c == '_' || c == '~')
      out += c;
    else
      out += fmt::format("%{:02X}", byte);
  }
  return out;
}

}  // namespace tenure::app
