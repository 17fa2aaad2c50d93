#include "app/cli/flag_values.hpp"

#include <cctype>

#include <fmt/format.h>

#include "app/cli/usage_error.hpp"
#include "config/printable.hpp"

namespace tenure::app {

base::Uuid UuidFlag(std::string_view flag, std::string_view text) {
  if (const auto id = base::Uuid::Parse(text)) return *id;
  throw UsageError(fmt::format("{}: {} is not a UUID, like 6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30",
                               flag, config::Quoted(text)));
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
