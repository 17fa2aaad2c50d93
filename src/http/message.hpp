#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/caller.hpp"
#include "base/error.hpp"

namespace tenure::http {

enum class Method { kGet, kHead, kPut, kPost, kPatch, kDelete, kOther };

std::string_view ToText(Method method);

struct Header {
  std::string_view name;
  std::string_view value;
};

/// Who asks. Without configured authentication (protected mode: loopback only) nobody is known and
/// every tenant may be named; with a token, `tenant` is the claim and everything is confined to it.
struct Principal {
  std::optional<std::string> tenant{};
  std::string person{};
  std::vector<std::string> scopes{};
  std::int64_t expires_wall_ms = 0;  ///< of the token; 0: nothing ends

  bool Has(std::string_view scope) const {
    return std::find(scopes.begin(), scopes.end(), scope) != scopes.end();
  }
};
/// Never null. Shared, because a token that is shown again is the same principal.
using PrincipalPtr = std::shared_ptr<const Principal>;
const PrincipalPtr& Nobody();
PrincipalPtr Known(Principal principal);

/// One parsed request. The views point into the connection's buffers and hold until the exchange is
/// answered.
struct Request {
  Method method = Method::kOther;
  std::string_view path;   ///< as sent, without the query
  std::string_view query;  ///< as sent, without the '?'
  std::vector<Header> headers;
  std::string_view body;  ///< at least kBodyPadding readable bytes follow it
  /// Decoded, in the order of the route's {placeholders}.
  std::vector<std::string> path_parameters;
  std::string request_id;
  /// Where it came from, "192.0.2.1": the socket's peer, or who that proxy speaks for
  /// (trusted_proxies.hpp). For logs, the audit and limits; nobody is let in because of it.
  std::string client_address;
  PrincipalPtr principal = Nobody();
  /// Of a write: it may happen only while these are of live grants (fences.hpp).
  std::vector<base::Fence> fences;

  static constexpr std::size_t kBodyPadding = 64;  // what simdjson reads beyond the end

  /// The value of the first header of that name (any case).
  std::optional<std::string_view> FindHeader(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string body{};
  std::string_view content_type = "application/json";
  std::vector<std::pair<std::string_view, std::string>> headers{};  ///< names are literals
};

/// Where a request leaves its asker: what the answer's headers say. (RateLimit-Limit, -Remaining,
/// -Reset and -Policy as the IETF's draft "RateLimit header fields for HTTP" has them.)
struct Quota {
  std::int64_t limit = 0;  ///< 0: there is none
  std::int64_t remaining = 0;
  std::int64_t reset_s = 0;
  std::int64_t window_s = 0;
  int retry_after_s = 0;  ///< 0: the request is allowed

  void AddTo(Response& response) const;
};

struct FieldError {
  std::string field;
  std::string message;
};

/// An error as RFC 9457 has it. `type` is a slug; it is printed as "urn:tenure:problem:<slug>" and
/// has a paragraph in docs/problems.md.
struct Problem {
  int status = 500;
  std::string_view type = "internal";
  std::string_view title{};
  std::string detail{};
  std::vector<FieldError> errors{};
  std::optional<int> retry_after_s{};
  std::vector<std::pair<std::string_view, std::string>> headers{};
  /// Further members that this type promises ("holder", "fence"): a name of the program's own and a
  /// finished JSON value.
  std::vector<std::pair<std::string_view, std::string>> extensions{};
};

/// Thrown by decoders and handlers for a request that cannot be served; becomes the response.
class ProblemError : public std::runtime_error {
 public:
  explicit ProblemError(Problem problem)
      : std::runtime_error(problem.detail), problem_(std::move(problem)) {}
  const Problem& problem() const { return problem_; }

 private:
  Problem problem_;
};

/// 400 that names each field.
Problem InvalidRequest(std::vector<FieldError> errors);
[[noreturn]] void RefuseField(std::string field, std::string message);
Problem NotFound(std::string detail);
/// The one table from faults to statuses.
Problem FromFault(const base::Fault& fault);

Response ToResponse(const Problem& problem, std::string_view request_id);

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
  kBodyMemory,     ///< 503: the bodies of all requests together take as much as they may
};
inline constexpr std::size_t kRejectionCount = 10;

/// Its label in tenure_http_rejected_total.
std::string_view ToText(Rejection rejection);

/// `detail` says what exactly was wrong; it never quotes the client's bytes.
Problem ToProblem(Rejection rejection, std::string_view detail);

/// What an answer on the wire has besides the handler's response.
struct ResponseFrame {
  std::string_view request_id;
  std::string_view date;  ///< as HttpDate gives it
  bool head = false;      ///< the request was HEAD: everything but the body
  bool close = false;     ///< the connection ends after this answer
};

/// Appends header and body as they go to the socket, so that an answer is one write.
void AppendResponse(std::string& out, const Response& response, const ResponseFrame& frame);

/// "Sun, 06 Nov 1994 08:49:37 GMT".
std::string HttpDate(std::int64_t wall_ms);

}  // namespace tenure::http
