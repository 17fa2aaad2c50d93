#include "auth/probe.hpp"

namespace tenure::auth {
namespace {

constexpr const char* kTokens = "tenure_auth_tokens_total";
constexpr const char* kTokensHelp = "Requests to routes that need a token, by what became of it.";
constexpr const char* kFetches = "tenure_auth_jwks_fetches_total";
constexpr const char* kFetchesHelp = "Attempts to fetch the issuer's keys.";

}  // namespace

Probe::Probe(telemetry::Registry& metrics)
    : remembered_(metrics.GetCounter(kTokens, kTokensHelp, {{"result", "remembered"}})),
      verified_(metrics.GetCounter(kTokens, kTokensHelp, {{"result", "verified"}})),
      refused_(metrics.GetCounter(kTokens, kTokensHelp, {{"result", "refused"}})),
      missing_(metrics.GetCounter(kTokens, kTokensHelp, {{"result", "missing"}})),
      fetched_(metrics.GetCounter(kFetches, kFetchesHelp, {{"result", "ok"}})),
      fetch_failed_(metrics.GetCounter(kFetches, kFetchesHelp, {{"result", "failed"}})),
      keys_(metrics.GetGauge("tenure_auth_keys", "Keys that tokens are verified with.")) {}

}  // namespace tenure::auth
