#include "http/rejection.hpp"

#include <array>

namespace tenure::http {
namespace {

struct Kind {
  std::string_view label;
  int status;
  std::string_view type;
  std::string_view title;
};

/// In the order of the enumeration.
constexpr std::array<Kind, kRejectionCount> kKinds{{
    {"malformed", 400, "malformed-request", "This is not a request that can be read safely"},
    {"version", 505, "version-not-supported", "This version of HTTP is not spoken here"},
    {"header_limit", 431, "header-too-large", "The request's header is too large"},
    {"body_limit", 413, "body-too-large", "The request's body is too large"},
    {"expectation", 417, "expectation-failed", "This expectation cannot be met"},
    {"header_timeout", 408, "request-timeout", "The request's header did not arrive in time"},
    {"body_timeout", 408, "request-timeout", "The request's body did not arrive in time"},
    {"connections", 503, "too-many-connections", "The server has too many connections"},
    {"not_tls", 400, "tls-required", "This port speaks TLS"},
}};

const Kind& KindOf(Rejection rejection) { return kKinds[static_cast<std::size_t>(rejection)]; }

}  // namespace

std::string_view ToText(Rejection rejection) { return KindOf(rejection).label; }

Problem ToProblem(Rejection rejection, std::string_view detail) {
  const Kind& kind = KindOf(rejection);
  Problem problem{
      .status = kind.status, .type = kind.type, .title = kind.title, .detail = std::string(detail)};
  if (kind.status == 503) problem.retry_after_s = 1;
  return problem;
}

}  // namespace tenure::http
