#pragma once

#include <cstddef>
#include <string>

namespace tenure::base {

/// The whole content of a file (or pipe) of at most `most_bytes`. Throws UserError that says what
/// is wrong, without the path in front.
std::string ReadWholeFile(const std::string& path, std::size_t most_bytes);

}  // namespace tenure::base
