#include "sessions/session_kind.hpp"

#include <array>
#include <cctype>

#include <fmt/format.h>

#include "cli/flags.hpp"
#include "config/printable.hpp"

namespace tenure::sessions {
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

std::string KindText(std::int64_t kind) {
  if (kind < 1 || kind > std::ssize(kNames)) return fmt::to_string(kind);
  return fmt::format("{} {}", kind, kNames[static_cast<std::size_t>(kind - 1)]);
}

std::string KindCell(const cli::JsonRow& row, std::string_view field, std::optional<std::int64_t>) {
  return KindText(row.Number(field));
}

std::string KindNumber(const cli::Flag& flag, const std::string& text) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (text == std::to_string(i + 1) || SameWord(text, kNames[i])) return std::to_string(i + 1);
  throw cli::UsageError(fmt::format("{}: {} is not 1, 2, 3, basic, standard or premium", flag.name,
                                    config::Quoted(text)));
}

}  // namespace tenure::sessions
