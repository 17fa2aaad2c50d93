#include "client/azure/token_cache.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "tenure/clock.hpp"

namespace tenure::client {
namespace {

using leases::Milliseconds;
using Kind = CallFailed::Kind;

/// A store that refuses every token must not make us ask the issuer with each request.
constexpr std::int64_t kBetweenForcedMs = 5'000;
constexpr std::int64_t kLongestLifeMs = 7LL * 86'400'000;  // beyond any token's

}  // namespace

TokenCache::TokenCache(std::shared_ptr<leases::TokenSource> source, std::string scope,
                       std::string mode, std::shared_ptr<ProviderCounters> counters, Timing timing)
    : source_(std::move(source)),
      scope_(std::move(scope)),
      mode_(std::move(mode)),
      counters_(std::move(counters)),
      timing_(timing),
      forced_ms_(BootClock().NowMs() - kBetweenForcedMs) {}

TokenCache::~TokenCache() {
  std::thread thread;
  {
    const base::Lock lock(mutex_);
    stopping_ = true;
    thread = std::move(thread_);
    changed_.notify_all();
  }
  if (thread.joinable()) thread.join();
}

void TokenCache::Begin() {
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

bool TokenCache::HasValid() const {
  return !token_.text.empty() && BootClock().NowMs() < token_.ends_ms;
}

template <class Condition>
bool TokenCache::Wait(base::Lock& lock, const CasCall& call, const Condition& condition) {
  while (!condition()) {
    const std::int64_t left_ms = call.until_ms - BootClock().NowMs();
    if (left_ms <= 0 || call.stop.stop_requested()) return false;
    changed_.wait_for(lock.native(), Milliseconds(left_ms));
  }
  return true;
}

std::string TokenCache::Get(const CasCall& call) {
  const std::stop_callback wake(call.stop, [this] {
    const base::Lock lock(mutex_);
    changed_.notify_all();
  });
  base::Lock lock(mutex_);
  Begin();
  const bool answered = Wait(lock, call, [&] {
    mutex_.AssertHeld();
    return HasValid() || failure_.has_value();
  });
  if (HasValid()) return token_.text;
  if (failure_) throw CallFailed(*failure_);
  static_cast<void>(answered);
  throw CallFailed(Kind::kUnavailable, fmt::format("no token came in time ({})", mode_));
}

std::optional<std::string> TokenCache::InPlaceOf(const std::string& refused, const CasCall& call) {
  const std::stop_callback wake(call.stop, [this] {
    const base::Lock lock(mutex_);
    changed_.notify_all();
  });
  base::Lock lock(mutex_);
  if (token_.text != refused && HasValid()) return token_.text;
  const std::int64_t now_ms = BootClock().NowMs();
  if (now_ms - forced_ms_ < kBetweenForcedMs) return std::nullopt;
  forced_ms_ = now_ms;
  next_ms_ = now_ms;
  Begin();
  changed_.notify_all();
  const std::int64_t before = fetches_;
  Wait(lock, call, [&] {
    mutex_.AssertHeld();
    return fetches_ > before || token_.text != refused;
  });
  if (token_.text != refused && HasValid()) return token_.text;
  return std::nullopt;
}

void TokenCache::Run() {
  base::Lock lock(mutex_);
  while (!stopping_) {
    const std::int64_t left_ms = next_ms_ - BootClock().NowMs();
    if (left_ms > 0)
      changed_.wait_for(lock.native(), Milliseconds(left_ms));
    else
      Fetch(lock);
  }
}

void TokenCache::Fetch(base::Lock& lock) {
  lock.unlock();
  const std::int64_t sent_ms = BootClock().NowMs();
  leases::AccessToken got;
  std::optional<CallFailed> failure;
  try {
    got = source_->Get(scope_, timing_.call);
    if (got.text.empty() || got.lifetime.count() <= 0)
      failure.emplace(Kind::kUnavailable, fmt::format("the token has no life ({})", mode_));
  } catch (const leases::AccessDenied& error) {
    failure.emplace(Kind::kDenied, error.what(), false, error.retry_after());
  } catch (const leases::LeaseError& error) {
    failure.emplace(Kind::kUnavailable, error.what(), false, error.retry_after());
  } catch (const std::exception& error) {
    failure.emplace(Kind::kUnavailable, fmt::format("no token ({}): {}", mode_, error.what()));
  }
  lock.lock();
  const std::int64_t now_ms = BootClock().NowMs();
  ++fetches_;
  if (failure) {
    const std::int64_t shift = std::min(failures_++, 10);
    const std::int64_t pause_ms =
        std::max(std::min(timing_.first_pause.count() << shift, timing_.longest_pause.count()),
                 std::min<std::int64_t>(failure->retry_after().count(), 600'000));
    next_ms_ = now_ms + pause_ms;
    counters_->Token(mode_, failure->kind() == Kind::kDenied ? "denied" : "failed", 0);
    base::LogWarn("leases.no_token", "A token of Azure could not be renewed.",
                  {{"mode", mode_}, {"error", failure->what()}});
    failure_ = std::move(failure);
  } else {
    const std::int64_t life_ms = std::min<std::int64_t>(got.lifetime.count(), kLongestLifeMs);
    // One that lives for minutes only is renewed at half of its life, not all the time.
    const std::int64_t early_ms =
        std::min(std::max(timing_.early.count(), life_ms / 10), life_ms / 2);
    token_ = {.text = std::move(got.text),
              .renew_at_ms = sent_ms + life_ms - early_ms,
              .ends_ms = sent_ms + life_ms};
    next_ms_ = std::max(token_.renew_at_ms, now_ms + timing_.first_pause.count());
    failures_ = 0;
    failure_.reset();
    counters_->Token(mode_, "fetched", static_cast<double>(token_.ends_ms - now_ms) / 1'000);
  }
  changed_.notify_all();
}

}  // namespace tenure::client
