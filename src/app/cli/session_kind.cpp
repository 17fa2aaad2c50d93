#include "app/cli/session_kind.hpp"

#include <array>
#include <cctype>

#include <fmt/format.h>

namespace tenure::app {
namespace {

constexpr std::array<std::string_view, 3> kNames{"Basic", "Standard", "Premium"};

bool SameWord(std::string_view left, std::string_view right) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i)
    if (std::tolower(static_cast<unsigned char>(left[i])) !=
        std::tolower(static_cast<unsigned char>(right[i])))
      return false;
  return true;
}

}  // namespace

std::string SessionKindText(std::int64_t kind) {
  if (kind < 1 || kind > std::ssize(kNames)) return fmt::to_string(kind);
  return fmt::format("{} {}", kind, kNames[static_cast<std::size_t>(kind - 1)]);
}

std::optional<int> ParseSessionKind(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (text == std::to_string(i + 1) || SameWord(text, kNames[i])) return static_cast<int>(i + 1);
  return std::nullopt;
}

}  // namespace tenure::app
