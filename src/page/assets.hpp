#pragma once

#include <span>
#include <string_view>

namespace tenure::page {

/// A file that is served. The name of one that the shell asks for has the hash of its bytes, so it
/// never changes.
struct Asset {
  std::string_view name;  ///< "main-3QK2ZB7A.js"
  std::string_view plain;
  std::string_view gzip;
};

/// What was compiled from dashboard/; empty when the program was built without it.
std::span<const Asset> Assets();

/// The documents, by what they are called below `/docs/` ("leases", "reference/settings"; "index" is
/// README.md), and their style. Empty as above.
std::span<const Asset> Docs();

}  // namespace tenure::page
