#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::providers {

/// The file of "sqlite:///path/to/file" (or "sqlite:relative/path"); empty for any other URL.
std::optional<std::filesystem::path> SqlitePath(std::string_view url);

/// "http://token@host:port/" without its token and the slash at its end, and the token.
struct ServerAddress {
  std::string base_url{};
  std::string token{};
};
ServerAddress SplitToken(std::string_view url);

}  // namespace tenure::providers
