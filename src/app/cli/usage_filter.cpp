#include "app/cli/usage_filter.hpp"

#include <charconv>

#include <fmt/format.h>

#include "app/cli/flag_values.hpp"
#include "app/cli/usage_error.hpp"
#include "config/printable.hpp"

namespace tenure::app {

void UsageFilter::Declare(Flags& flags) {
  using enum Flags::Need;
  flags.Add(Flags::Value{"--user", "UUID", "Only that of this user.", kOptional, &user_});
  flags.Add(Flags::Value{"--tenant", "UUID", "Only that of this tenant.", kOptional, &tenant_});
  flags.Add(
      Flags::Value{"--capacity", "UUID", "Only that on this capacity.", kOptional, &capacity_});
}

std::string UsageFilter::Query() const {
  std::string query;
  const auto add = [&](std::string_view flag, std::string_view field,
                       const std::optional<std::string>& text) {
    if (text) query += fmt::format("&{}={}", field, UuidFlag(flag, *text).ToString());
  };
  add("--user", "userObjectId", user_);
  add("--tenant", "tenantObjectId", tenant_);
  add("--capacity", "capacityId", capacity_);
  return query;
}

std::int64_t WindowFlag(std::string_view flag, std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc{} && stopped == end && number > 0 && number < (std::int64_t{1} << 53))
    return number;
  throw UsageError(fmt::format("{}: {} is no window's number", flag, config::Quoted(text)));
}

}  // namespace tenure::app
