#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenure::config {

/// The candidate that `word` was most likely meant to be: the one with the fewest letters added,
/// left out, changed or swapped, when those are few for its length. Empty when none is near.
std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace tenure::config
