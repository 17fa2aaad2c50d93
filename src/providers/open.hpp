#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace tenure::providers {

/// The file of "sqlite:///path/to/file" (or "sqlite:relative/path"); empty for any other URL.
std::optional<std::filesystem::path> SqlitePath(std::string_view url);

}  // namespace tenure::providers
