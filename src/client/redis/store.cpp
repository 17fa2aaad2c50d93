#include "client/redis/store.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include <fmt/format.h>

#include "base/log.hpp"
#include "base/time_text.hpp"
#include "client/azure/token_cache.hpp"
#include "client/redis/scripts.hpp"
#include "tenure/clock.hpp"
#include "tenure/leases/errors.hpp"

namespace tenure::client {
namespace {

using leases::ProviderUnavailable;

constexpr std::chrono::milliseconds kUsualMaxTtl{300'000};
constexpr std::int64_t kOpenMs = 5'000;

/// 0: there is none.
std::int64_t NumberIn(const RedisReply& reply, std::size_t place) {
  std::int64_t number = 0;
  if (place >= reply.items.size()) return number;
  const std::string& text = reply.items[place].text;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

RedisStore::RedisStore(RedisAddress address)
    : address_(std::move(address)),
      tls_(WireTls::For(address_)),
      max_ttl_(address_.max_ttl.value_or(kUsualMaxTtl)),
      bell_(
          [this](int cancel_fd, std::int64_t until_ms) {
            return std::make_unique<RedisLink>(address_, tls_.get(), cancel_fd, until_ms);
          },
          address_.prefix + "wake") {
  const leases::Descriptor never(
      leases::CheckedCall(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"));
  const std::int64_t until_ms = BootClock().NowMs() + kOpenMs;
  try {
    RedisLink link(address_, tls_.get(), never.get(), until_ms);
    const RedisFacts facts = AskFacts(link, until_ms);
    CheckFit(facts);
    advice_ = WhyItMayForget(facts);
    durable_ = advice_.empty();
    const std::int64_t frozen_ms = durable_ ? 0 : AgreeOnTtl(link, until_ms);
    const base::Lock lock(mutex_);
    facts_ = facts;
    heard_ms_ = BootClock().NowMs();
    apart_until_ms_ = heard_ms_ + frozen_ms;
  } catch (const WireError& error) {
    throw ProviderUnavailable(fmt::format("no Redis answers: {}", error.what()), {});
  }
  if (durable_) return;
  advice_ +=
      ", or accept that a restart forgets who holds what (`require_durable_grant` off, "
      "`--allow-forgetting`)";
}

std::unique_ptr<RedisLink> RedisStore::Connect(int cancel_fd, std::int64_t until_ms) {
  auto link = std::make_unique<RedisLink>(address_, tls_.get(), cancel_fd, until_ms);
  Meet(*link, until_ms);
  return link;
}

RedisFacts RedisStore::AskFacts(RedisLink& link, std::int64_t until_ms) const {
  const std::array<RedisCommand, 5> questions{{{"INFO", "server"},
                                               {"INFO", "persistence"},
                                               {"INFO", "replication"},
                                               {"INFO", "memory"},
                                               {"CONFIG", "GET", "appendfsync"}}};
  const auto replies = link.Ask(questions, until_ms);
  std::string info;
  for (std::size_t i = 0; i < 4; ++i) {
    if (replies[i].is_error()) ThrowRedisError(replies[i], false);
    info += replies[i].text + "\n";
  }
  RedisFacts facts = ReadRedisFacts(info);
  if (replies[4].items.size() == 2) facts.appendfsync = replies[4].items[1].text;
  return facts;
}

void RedisStore::Meet(RedisLink& link, std::int64_t until_ms) {
  const RedisFacts facts = AskFacts(link, until_ms);
  CheckFit(facts);
  const std::string forgets = WhyItMayForget(facts);
  if (durable_ && !forgets.empty())
    throw leases::UnfitStore(
        fmt::format(
            "this Redis kept every grant when this program began, and does not any more: {}",
            forgets),
        {});
  // It may have forgotten that, too.
  const std::int64_t frozen_ms = durable_ ? 0 : AgreeOnTtl(link, until_ms);
  const base::Lock lock(mutex_);
  const std::int64_t now_ms = BootClock().NowMs();
  const std::int64_t silent_ms = now_ms - heard_ms_;
  const Meeting meeting = Compare(*facts_, facts, silent_ms);
  if (!durable_ && meeting == Meeting::kRestarted)
    apart_until_ms_ = now_ms + (silent_ms < max_ttl_.count() ? max_ttl_.count() : frozen_ms);
  if (meeting == Meeting::kAnother) {
    apart_until_ms_ = now_ms + max_ttl_.count();
    base::LogWarn("leases.another_redis",
                  "Another Redis answers than before; it may lack the last grants, so nothing is "
                  "granted for a while.",
                  {{"for_ms", max_ttl_.count()}});
  }
  facts_ = facts;
  heard_ms_ = now_ms;
}

std::int64_t RedisStore::AgreeOnTtl(RedisLink& link, std::int64_t until_ms) {
  const RedisScript& script = SettingsScript();
  const std::string wanted = std::to_string(max_ttl_.count());
  const bool is_known = [&] {
    const base::Lock lock(mutex_);
    return facts_.has_value();
  }();
  const RedisReply reply = link.Ask(RedisCommand{"EVAL", script.text, "0", address_.prefix, "0",
                                                 "0", "", wanted, is_known ? "again" : ""},
                                    until_ms);
  if (reply.is_error()) ThrowRedisError(reply, false);
  const std::int64_t agreed_ms = NumberIn(reply, 0);
  if (agreed_ms < leases::kMinTtl.count() || agreed_ms > leases::kMaxTtl.count())
    throw leases::UnfitStore(
        fmt::format("the key {}settings of the Redis has no max_ttl that makes sense",
                    address_.prefix),
        {});
  if (address_.max_ttl && agreed_ms != address_.max_ttl->count())
    throw leases::UnfitStore(
        fmt::format("the programs that share this Redis have max_ttl {}, and this one says {}: all "
                    "must say the same (it stands in the key {}settings)",
                    base::DurationText(agreed_ms), base::DurationText(address_.max_ttl->count()),
                    address_.prefix),
        {});
  const base::Lock lock(mutex_);
  if (!facts_) {
    max_ttl_ = std::chrono::milliseconds(agreed_ms);  // the constructor: nobody else is there yet
  } else if (agreed_ms != max_ttl_.count()) {
    throw leases::UnfitStore(
        fmt::format("the programs that share this Redis have max_ttl {} now, and this one began "
                    "with {}: restart it",
                    base::DurationText(agreed_ms), base::DurationText(max_ttl_.count())),
        {});
  }
  return NumberIn(reply, 1);
}

std::int64_t RedisStore::ApartMs() const {
  const base::Lock lock(mutex_);
  return std::max<std::int64_t>(apart_until_ms_ - BootClock().NowMs(), 0);
}

void RedisStore::Heard() {
  const base::Lock lock(mutex_);
  heard_ms_ = BootClock().NowMs();
}

void RedisStore::Count(std::string_view operation, std::string_view outcome, double seconds) {
  const base::Lock lock(mutex_);
  auto& [count, total] = counts_[{std::string(operation), std::string(outcome)}];
  ++count;
  total += seconds;
}

void RedisStore::CountReconnect() {
  const base::Lock lock(mutex_);
  ++reconnects_;
}

leases::ProviderStats RedisStore::stats() const {
  const base::Lock lock(mutex_);
  leases::ProviderStats stats{.requests = {}, .reconnects = reconnects_};
  for (const auto& [key, value] : counts_)
    stats.requests.push_back({.operation = key.first,
                              .outcome = key.second,
                              .count = value.first,
                              .seconds = value.second});
  if (address_.tokens) {
    leases::ProviderStats tokens = address_.tokens->counters()->stats();
    stats.token_fetches = std::move(tokens.token_fetches);
    stats.token_remaining_seconds = tokens.token_remaining_seconds;
  }
  return stats;
}

}  // namespace tenure::client
