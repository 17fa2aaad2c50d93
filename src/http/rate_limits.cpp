#include "http/rate_limits.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/ip.hpp"

namespace tenure::http {
namespace {

constexpr std::int64_t kMsPerSecond = 1'000;
constexpr int kNetworkBits = 64;

/// Whole seconds that are over when `ms` are.
std::int64_t SecondsOf(std::int64_t ms) { return (ms + kMsPerSecond - 1) / kMsPerSecond; }

bool IsAtOrBelow(std::string_view pattern, std::string_view path) {
  return pattern.starts_with(path) &&
         (pattern.size() == path.size() || pattern[path.size()] == '/');
}

}  // namespace

bool Covers(const RateClass& of, const Route& route) {
  return std::ranges::any_of(of.paths,
                             [&](const auto& path) { return IsAtOrBelow(route.pattern, path); });
}

void Quota::AddTo(Response& response) const {
  response.headers.emplace_back("RateLimit-Limit", std::to_string(limit));
  response.headers.emplace_back("RateLimit-Remaining", std::to_string(remaining));
  response.headers.emplace_back("RateLimit-Reset", std::to_string(reset_s));
  response.headers.emplace_back("RateLimit-Policy", fmt::format("{};w={}", limit, window_s));
}

Problem RateLimited(const Quota& quota) {
  return {.status = 429,
          .type = "rate-limited",
          .title = "Too many requests",
          .detail = fmt::format("There were more requests than {} in {} s. Nothing happened. Send "
                                "the request again later.",
                                quota.limit, quota.window_s),
          .retry_after_s = quota.retry_after_s};
}

std::string RateKey(const Request& request) {
  const Principal& who = *request.principal;
  // No text of a token has a NUL, so nobody's name can reach into another's.
  if (who.tenant) return fmt::format("{}{}{}", *who.tenant, '\0', who.person);
  const auto address = base::IpAddress::Parse(request.client_address);
  if (!address || address->bits() == base::IpAddress::kV4Bits) return request.client_address;
  return address->Prefix(kNetworkBits).ToString();
}

RateLimits::Class::Class(const RateClass& of, const base::Clock& clock,
                         telemetry::Registry& metrics)
    : limiter(of.rate, clock),
      refused(metrics.GetCounter("http_rate_limited_total",
                                 "Requests that were refused (429): over the limit of their class.",
                                 {{"class", of.name}})) {}

RateLimits::RateLimits(std::span<const Route> routes, const std::vector<RateClass>& classes,
                       const base::Clock& clock, telemetry::Registry& metrics)
    : first_route_(routes.data()) {
  for (const RateClass& of : classes) {
    if (!of.rate.limits()) continue;
    of_route_.resize(routes.size());
    Class& limited = classes_.emplace_back(of, clock, metrics);
    for (std::size_t i = 0; i < routes.size(); ++i)
      if (Covers(of, routes[i])) of_route_[i] = &limited;
  }
}

Quota RateLimits::CountIn(Class& of, const Request& request) {
  const RateLimiter::Verdict verdict = of.limiter.Take(RateKey(request));
  if (!verdict.allowed) of.refused.Add();
  return {.limit = of.limiter.rate().count,
          .remaining = verdict.remaining,
          .reset_s = SecondsOf(verdict.full_in_ms),
          .window_s = of.limiter.rate().per_ms / kMsPerSecond,
          .retry_after_s = static_cast<int>(SecondsOf(verdict.retry_in_ms))};
}

}  // namespace tenure::http
