#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::providers {

/// The file of "sqlite:///path/to/file" (or "sqlite:relative/path"); empty for any other URL.
std::optional<std::filesystem::path> SqlitePath(std::string_view url);

/// How a Tenure server is reached.
struct ServerAddress {
  std::string base_url{};
  std::string token{};    ///< sent as a bearer token when it is not empty
  std::string ca_file{};  ///< whose signatures count, instead of the system's certificates
};
/// Of "http://token@host:port/": without its token and the slash at its end, and the token.
ServerAddress SplitToken(std::string_view url);

}  // namespace tenure::providers
