#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::app {

/// "2 Standard"; of a kind that this program does not know, the number alone.
std::string SessionKindText(std::int64_t kind);

/// From "2" or "standard".
std::optional<int> ParseSessionKind(std::string_view text);

}  // namespace tenure::app
