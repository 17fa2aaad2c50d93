#include "http/rate_limits.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ip.hpp"

namespace tenure::http {
namespace {

constexpr std::int64_t kMsPerSecond = 1'000;
constexpr int kNetworkBits = 64;

/// Whole seconds that are over when `ms` are.
std::int64_t SecondsOf(std::int64_t ms) { return (ms + kMsPerSecond - 1) / kMsPerSecond; }

constexpr std::int64_t kNanosPerMs = 1'000'000;

std::int64_t RoundedUp(std::int64_t amount, std::int64_t unit) {
  return (amount + unit - 1) / unit;
}

std::int64_t IntervalNs(const base::Rate& rate) {
  TENURE_CHECK(rate.limits(), "a limiter has a limit");
  return RoundedUp(rate.per_ms * kNanosPerMs, rate.count);
}

}  // namespace

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

RateLimits::Class::Class(RateClass limited, const base::Clock& clock, telemetry::Registry& metrics)
    : of(std::move(limited)),
      limiter(of.rate, clock),
      refused(metrics.GetCounter("tenure_http_rate_limited_total",
                                 "Requests that were refused (429): over the limit of their class.",
                                 {{"class", of.name}})) {}

RateLimits::RateLimits(std::span<const Route> routes, const std::vector<RateClass>& classes,
                       const base::Clock& clock, telemetry::Registry& metrics)
    : routes_(routes), clock_(clock), metrics_(metrics) {
  Use(classes);
}

void RateLimits::Use(const std::vector<RateClass>& classes) {
  const base::Lock lock(mutex_);
  Classes next;
  auto table = std::make_shared<Table>(routes_.size());
  for (const RateClass& of : classes) {
    if (!of.rate.limits()) continue;
    const auto same = std::ranges::find_if(classes_, [&](const auto& known) {
      return known->of.name == of.name && known->of.rate == of.rate;
    });
    next.push_back(same != classes_.end() ? *same : std::make_shared<Class>(of, clock_, metrics_));
    for (std::size_t i = 0; i < routes_.size(); ++i)
      if (routes_[i].rate_class == of.name) (*table)[i] = next.back();
  }
  classes_ = std::move(next);
  table_ = std::move(table);
  limits_.store(!classes_.empty(), std::memory_order_release);
}

std::optional<Quota> RateLimits::CountLimited(const Route& route, const Request& request) {
  std::shared_ptr<const Table> table;
  {
    const base::Lock lock(mutex_);
    table = table_;
  }
  const auto& of = (*table)[static_cast<std::size_t>(&route - routes_.data())];
  if (!of) return std::nullopt;
  return CountIn(*of, request);
}

Quota RateLimits::CountIn(Class& of, const Request& request) {
  const RateLimiter::Decision decision = of.limiter.Take(RateKey(request));
  if (!decision.allowed) of.refused.Add();
  return QuotaOf(of.limiter.rate(), decision);
}

Quota QuotaOf(const base::Rate& rate, const RateLimiter::Decision& decision) {
  return {.limit = rate.count,
          .remaining = decision.remaining,
          .reset_s = SecondsOf(decision.full_in_ms),
          .window_s = rate.per_ms / kMsPerSecond,
          .retry_after_s = static_cast<int>(SecondsOf(decision.retry_in_ms))};
}

RateLimiter::RateLimiter(const base::Rate& rate, const base::Clock& clock)
    : rate_(rate), clock_(clock), interval_ns_(IntervalNs(rate)), sets_(kSets) {}

RateLimiter::Decision RateLimiter::Take(std::string_view key) {
  const std::uint64_t hash = hash_(key);
  const std::size_t set = hash % kSets;
  const std::int64_t now_ns = clock_.BootMs() * kNanosPerMs;
  const base::Lock lock(locks_[set % kLocks].mutex);
  return Decide(BucketOf(sets_[set], hash), now_ns);
}

RateLimiter::Decision RateLimiter::Peek(std::string_view key) {
  const std::uint64_t hash = hash_(key);
  const std::size_t set = hash % kSets;
  const std::int64_t now_ns = clock_.BootMs() * kNanosPerMs;
  const base::Lock lock(locks_[set % kLocks].mutex);
  const auto found = std::ranges::find(sets_[set], hash, &Bucket::hash);
  Bucket copy = found != sets_[set].end() ? *found : Bucket{.hash = hash};
  return Decide(copy, now_ns);
}

RateLimiter::Bucket& RateLimiter::BucketOf(Set& set, std::uint64_t hash) {
  const auto found = std::ranges::find(set, hash, &Bucket::hash);
  if (found != set.end()) return *found;
  Bucket& replaced = *std::ranges::min_element(set, {}, &Bucket::full_ns);
  replaced = {.hash = hash};
  return replaced;
}

RateLimiter::Decision RateLimiter::Decide(Bucket& bucket, std::int64_t now_ns) const {
  const std::int64_t taken_ns = std::max<std::int64_t>(bucket.full_ns - now_ns, 0);
  const std::int64_t most_ns = (rate_.count - 1) * interval_ns_;  // with more, none is left
  if (taken_ns > most_ns)
    return {.full_in_ms = RoundedUp(taken_ns, kNanosPerMs),
            .retry_in_ms = RoundedUp(taken_ns - most_ns, kNanosPerMs)};
  bucket.full_ns = now_ns + taken_ns + interval_ns_;
  return {.allowed = true,
          .remaining = (most_ns - taken_ns) / interval_ns_,
          .full_in_ms = RoundedUp(taken_ns + interval_ns_, kNanosPerMs)};
}

}  // namespace tenure::http
