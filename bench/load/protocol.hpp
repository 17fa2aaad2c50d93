#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bench {

struct Answer {
  int status = 0;               ///< of HTTP; 0: the connection broke
  std::string_view location{};  ///< of the header Location; valid during the call
  std::string_view body{};      ///< valid during the call
};

/// What stands at the beginning of a connection's input.
struct Parsed {
  std::size_t size = 0;  ///< of the whole answer; 0: not all of it is here
  Answer answer{};
};

/// Finds the first answer. `scratch` may hold what the answer's views point to.
using Parser = Parsed (*)(std::string_view input, std::string& scratch);

/// Only as much of HTTP/1.1 as Tenure, nginx and etcd speak: Content-Length or chunks.
Parsed ParseHttp(std::string_view input, std::string& scratch);

/// Redis's answers of one line; the status is 200, or 500 for an error.
Parsed ParseRedis(std::string_view input, std::string& scratch);

/// A request with the token of the environment's BENCH_TOKEN, if it has one.
std::string HttpRequest(std::string_view method, std::string_view path, std::string_view json = {});

/// What stands behind `"name":` in a flat piece of JSON, quotes taken off; empty when it is not
/// there. Enough for answers whose shape we know.
std::string_view JsonValue(std::string_view json, std::string_view name);

}  // namespace bench
