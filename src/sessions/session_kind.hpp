#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/answer.hpp"
#include "cli/flags.hpp"

namespace tenure::sessions {

/// "2 Standard"; of a kind that this program does not know, the number alone.
std::string KindText(std::int64_t kind);
/// The same of a field.
std::string KindCell(const cli::JsonRow& row, std::string_view field,
                     std::optional<std::int64_t> now_ms);

/// The check of a flag: "2" or "standard"; what is sent is the number.
std::string KindNumber(const cli::Flag& flag, const std::string& text);

}  // namespace tenure::sessions
