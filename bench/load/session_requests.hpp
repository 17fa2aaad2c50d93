#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

/// The body of PUT /sessions for the key with this number: a random-looking user, always the same
/// for the same number, in one tenant with 16 capacities.
std::string PutBody(std::uint64_t number, int kind);

std::string PutRequest(std::uint64_t number, int kind);

/// REQUIRES: `path` is what Location said.
std::string DeleteRequest(std::string_view path);

}  // namespace bench
