#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenure::docs {

/// Replaces what differs from run to run: ids by <uuid>, instants (RFC 3339 and the Date header) by
/// <time>, "12 ms" by <duration>, ports of this machine by <port>; carriage returns and spaces at
/// the end of the line go away.
std::string Normalised(std::string_view line);

/// Whether the output is what the page promises. Both are normalised. In the expectation a line
/// "..." stands for any number of lines, and "..." inside a line for any text.
bool Matches(const std::vector<std::string>& expected, const std::vector<std::string>& actual);

/// Expectation and output one below the other, with a mark at the first line that does not match.
std::string Difference(const std::vector<std::string>& expected,
                       const std::vector<std::string>& actual);

}  // namespace tenure::docs
