#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenure::config {

/// As base::Printable.
std::string Printable(std::string_view text);

/// `text` printable, in double quotes, cut to a length that leaves the sentence around it readable.
std::string Quoted(std::string_view text);

/// How many columns `text` takes on a terminal: one for each character of valid UTF-8.
std::size_t DisplayWidth(std::string_view text);

/// The candidate that `word` was most likely meant to be: the one with the fewest letters added,
/// left out, changed or swapped, when those are few for its length. Empty when none is near.
std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace tenure::config
