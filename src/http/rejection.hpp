#pragma once

#include <string_view>

#include "http/message.hpp"

namespace tenure::http {

/// Why a connection's bytes never became a request. After each of these the connection is closed:
/// where the next request would begin is not known, or nobody waits for it.
enum class Rejection {
  kMalformed,      ///< 400: not HTTP, or HTTP that two readers could read differently
  kVersion,        ///< 505: neither HTTP/1.1 nor HTTP/1.0
  kHeaderLimit,    ///< 431
  kBodyLimit,      ///< 413
  kExpectation,    ///< 417: an Expect other than 100-continue
  kHeaderTimeout,  ///< 408
  kBodyTimeout,    ///< 408
  kConnections,    ///< 503: the server has as many connections as it may
  kNotTls,         ///< 400: plain HTTP where TLS is spoken
};
inline constexpr std::size_t kRejectionCount = 9;

/// Its label in http_rejected_total.
std::string_view ToText(Rejection rejection);

/// `detail` says what exactly was wrong; it never quotes the client's bytes.
Problem ToProblem(Rejection rejection, std::string_view detail);

}  // namespace tenure::http
