#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenure::docs {

/// Runs the examples of a page as a reader would who types them one after another into one shell,
/// and compares what comes with what the page promises.
///
/// Each page has a server of its own with nothing in it, a working folder of its own (with the
/// project's `examples/` in it), `tenure` in PATH and TENURE_SERVER set. The address that pages
/// name, 127.0.0.1:8080, is replaced by the real one. On a page whose examples name $DATABASE_URL
/// the server's store is that PostgreSQL database; on every other page it is the embedded one. On a
/// page whose examples name 127.0.0.1:9090 there is a `tenure usage-sink`, to which the server
/// sends usage in windows of a second.
///
/// Only the output counts. Where a page promises none, the exit code must be 0.
///
/// Returns what is wrong, one text per finding that begins with "page:line:"; empty: all is well.
/// A page without runnable examples starts nothing.
std::vector<std::string> RunPage(const std::filesystem::path& page,
                                 const std::filesystem::path& tenure);

}  // namespace tenure::docs
