#include "seats/rate_guards.hpp"

namespace tenure::seats {

RateGuard::RateGuard(std::string_view name, const base::Rate& rate, const base::Clock& clock,
                     telemetry::Registry& metrics)
    : refused_(
          metrics.GetCounter("http_rate_limited_total",
                             "Requests that were refused (429): over the limit of their class.",
                             {{"class", std::string(name)}})) {
  if (rate.limits()) limiter_.emplace(rate, clock);
}

void RateGuard::Count(http::Exchange& exchange, std::string_view key) {
  if (limiter_) Tell(exchange, limiter_->Take(key));
}

void RateGuard::Note(std::string_view key) {
  if (limiter_) limiter_->Take(key);
}

void RateGuard::Check(http::Exchange& exchange, std::string_view key) {
  if (!limiter_) return;
  const http::RateLimiter::Decision decision = limiter_->Peek(key);
  if (!decision.allowed) Tell(exchange, decision);
}

void RateGuard::Tell(http::Exchange& exchange, const http::RateLimiter::Decision& decision) {
  const http::Quota quota = http::QuotaOf(limiter_->rate(), decision);
  exchange.set_quota(quota);
  if (decision.allowed) return;
  refused_.Add();
  throw http::ProblemError(http::RateLimited(quota));
}

RateGuards::RateGuards(const RateSettings& settings, const base::Clock& clock,
                       telemetry::Registry& metrics)
    : acquire("seats_acquire", settings.acquire, clock, metrics),
      heartbeat("seats_heartbeat", settings.heartbeat, clock, metrics),
      bulk("seats_bulk", settings.bulk, clock, metrics),
      misses("seats_misses", settings.misses, clock, metrics) {}

}  // namespace tenure::seats
