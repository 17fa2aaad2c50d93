#include "sink/sink.hpp"

#include <utility>

#include <openssl/crypto.h>

#include "base/clock.hpp"

namespace tenure::sink {
namespace {

/// A thousand records and room for spaces.
constexpr std::size_t kMaxBodyBytes = 4 << 20;
constexpr std::int64_t kGraceMs = 5'000;

http::ServerOptions ServerOf(const SinkOptions& options) {
  return {.host = options.host, .port = options.port, .max_body_bytes = kMaxBodyBytes};
}

/// Null without a token: the server then protects itself (loopback only).
http::Authenticator AuthenticatorOf(const std::string& token) {
  if (token.empty()) return nullptr;
  return [expected = "Bearer " + token](const http::Request& request) -> http::PrincipalPtr {
    const std::string_view given = request.FindHeader("Authorization").value_or(std::string_view());
    // The time that it takes tells the length, and nothing of the content.
    if (given.size() != expected.size() ||
        CRYPTO_memcmp(given.data(), expected.data(), expected.size()) != 0)
      throw http::ProblemError({.status = 401,
                                .type = "unauthenticated",
                                .title = "A token is missing or not valid",
                                .detail = "Send it as Authorization: Bearer …",
                                .headers = {{"WWW-Authenticate", "Bearer"}}});
    return http::Known({.scopes = {"usages:read", "usages:write"}});
  };
}

}  // namespace

Sink::Sink(SinkOptions options)
    : options_(std::move(options)),
      lock_(options_.directory),
      books_(options_.directory, db::Access::kWrite),
      reader_(options_.directory, db::Access::kRead),
      receiver_(books_, options_.faults, options_.fault_seed),
      server_(ServerOf(options_), (receiver_.AddRoutes(router_), router_), metrics_,
              base::SystemClock(), AuthenticatorOf(options_.token)) {}

void Sink::Start() { server_.Start(); }
void Sink::Stop() { server_.Stop(kGraceMs); }

Summary Sink::Look(std::int64_t top) {
  Summary summary;
  summary.all = reader_.Sum();
  summary.sessions = reader_.Count(What::kSession);
  summary.duplicates = receiver_.duplicates();
  summary.conflicts = reader_.Conflicts();
  for (const What what : {What::kTenant, What::kCapacity, What::kUser})
    summary.groups.push_back({what, reader_.Count(what), reader_.Top(what, top)});
  return summary;
}

}  // namespace tenure::sink
