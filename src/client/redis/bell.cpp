#include "client/redis/bell.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <exception>

#include "base/log.hpp"
#include "tenure/clock.hpp"
#include "tenure/leases/errors.hpp"

namespace tenure::client {
namespace {

constexpr std::int64_t kBellConnectMs = 5'000;
constexpr std::int64_t kQuietMs = 15'000;  // then it is asked whether it is still there
constexpr std::int64_t kPongMs = 5'000;
constexpr std::int64_t kFirstRetryMs = 100;
constexpr std::int64_t kLastRetryMs = 5'000;

}  // namespace

RedisBell::RedisBell(Connect connect, std::string channel)
    : connect_(std::move(connect)),
      channel_(std::move(channel)),
      cancel_(leases::CheckedCall(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {}

RedisBell::~RedisBell() {
  std::thread ending;
  {
    const base::Lock lock(mutex_);
    stopping_ = true;
    ending = std::move(thread_);
  }
  ::eventfd_write(cancel_.get(), 1);
  changed_.notify_all();
  if (ending.joinable()) ending.join();
}

RedisBell::Waiter::Waiter(RedisBell& bell, std::string_view name) : bell_(bell), name_(name) {
  const base::Lock lock(bell_.mutex_);
  bell_.waiters_.insert(this);
  if (!bell_.thread_.joinable()) bell_.thread_ = std::thread([&bell] { bell.Run(); });
}

RedisBell::Waiter::~Waiter() {
  const base::Lock lock(bell_.mutex_);
  bell_.waiters_.erase(this);
}

void RedisBell::Waiter::Sleep(std::int64_t until_ms, const std::atomic<bool>& cancelled) {
  base::Lock lock(bell_.mutex_);
  while (!rung_ && !cancelled && BootClock().NowMs() < until_ms)
    BootClock().WaitUntil(lock.native(), bell_.changed_, until_ms);
  rung_ = false;
}

void RedisBell::AwaitReady(std::int64_t until_ms, const std::atomic<bool>& cancelled) {
  base::Lock lock(mutex_);
  while (state_ == State::kTrying && !cancelled && BootClock().NowMs() < until_ms)
    BootClock().WaitUntil(lock.native(), changed_, until_ms);
}

bool RedisBell::listens() const {
  const base::Lock lock(mutex_);
  return state_ == State::kListens;
}

void RedisBell::Nudge() {
  const base::Lock lock(mutex_);
  changed_.notify_all();
}

bool RedisBell::stopping() const {
  const base::Lock lock(mutex_);
  return stopping_;
}

void RedisBell::Enter(State state) {
  const base::Lock lock(mutex_);
  if (state_ != State::kTrying && state_ == state) return;
  state_ = state;
  for (Waiter* const waiter : waiters_) waiter->rung_ = true;
  changed_.notify_all();
}

void RedisBell::Ring(std::string_view name) {
  const base::Lock lock(mutex_);
  for (Waiter* const waiter : waiters_) waiter->rung_ |= waiter->name_ == name;
  changed_.notify_all();
}

void RedisBell::Run() {
  std::int64_t pause_ms = kFirstRetryMs;
  while (!stopping()) {
    const std::int64_t began_ms = BootClock().NowMs();
    try {
      Listen();
    } catch (const std::exception& error) {
      if (stopping()) return;
      base::LogWarn("leases.deaf",
                    "Waiting leases are not told of releases for the moment; they ask by "
                    "themselves.",
                    {{"error", error.what()}});
    }
    Enter(State::kDeaf);
    if (BootClock().NowMs() - began_ms > kLastRetryMs) pause_ms = kFirstRetryMs;
    base::Lock lock(mutex_);
    const std::int64_t until_ms = BootClock().NowMs() + pause_ms;
    while (!stopping_ && BootClock().NowMs() < until_ms)
      BootClock().WaitUntil(lock.native(), changed_, until_ms);
    pause_ms = std::min(pause_ms * 2, kLastRetryMs);
  }
}

void RedisBell::Listen() {
  const std::int64_t until_ms = BootClock().NowMs() + kBellConnectMs;
  const auto link = connect_(cancel_.get(), until_ms);
  const RedisReply subscribed = link->Ask(RedisCommand{"SUBSCRIBE", channel_}, until_ms);
  if (subscribed.is_error()) ThrowRedisError(subscribed, false);
  Enter(State::kListens);
  bool asked = false;  // whether it is there
  while (!link->IsOutdated(BootClock().NowMs() + kPongMs)) {
    const auto reply = link->Read(BootClock().NowMs() + (asked ? kPongMs : kQuietMs));
    if (!reply && asked) throw WireError("it does not answer any more");
    asked = !reply;
    if (!reply) {
      link->Send(RedisCommand{"PING"}, BootClock().NowMs() + kPongMs);
      continue;
    }
    if (reply->is_error()) ThrowRedisError(*reply, false);
    if (reply->items.size() == 3 && reply->items[0].text == "message") Ring(reply->items[2].text);
  }
}

}  // namespace tenure::client
