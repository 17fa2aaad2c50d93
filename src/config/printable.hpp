#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenure::config {

/// `text` as it may be shown on a terminal: control characters, invisible direction marks and bytes
/// that are not UTF-8 become '?', so that a value from a file or from a server cannot move the
/// cursor, set the title or pretend to be another one.
std::string Printable(std::string_view text);

/// `text` printable, in double quotes, cut to a length that leaves the sentence around it readable.
std::string Quoted(std::string_view text);

/// How many columns `text` takes on a terminal: one for each character of valid UTF-8.
std::size_t DisplayWidth(std::string_view text);

}  // namespace tenure::config
