#include "push/resolver.hpp"

#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "base/mutex.hpp"

namespace tenure::push {
namespace {

constexpr std::size_t kMostKept = 10'000;

std::optional<HostAddress> AddressOf(const sockaddr* address) {
  HostAddress found;
  if (address && address->sa_family == AF_INET) {
    std::memcpy(found.bytes.data(), &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, 4);
    return found;
  }
  if (address && address->sa_family == AF_INET6) {
    found.is_v4 = false;
    std::memcpy(found.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, 16);
    return found;
  }
  return std::nullopt;
}

}  // namespace

Resolved LookUp(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  Resolved resolved;
  if (const int error = getaddrinfo(host.c_str(), nullptr, &hints, &list); error != 0) {
    resolved.error = gai_strerror(error);
    return resolved;
  }
  for (const addrinfo* each = list; each; each = each->ai_next)
    if (const auto address = AddressOf(each->ai_addr)) resolved.addresses.push_back(*address);
  freeaddrinfo(list);
  if (resolved.addresses.empty()) resolved.error = "the host has no address";
  return resolved;
}

std::vector<HostAddress> OwnAddresses() {
  std::vector<HostAddress> own;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return own;
  for (const ifaddrs* each = list; each; each = each->ifa_next)
    if (const auto address = AddressOf(each->ifa_addr)) own.push_back(*address);
  freeifaddrs(list);
  return own;
}

/// Outlives the resolver for as long as a look-up is under way: getaddrinfo cannot be interrupted.
struct Resolver::State {
  struct Waiter {
    std::int64_t until_ms = 0;
    Done done{};
  };
  struct Kept {
    Resolved resolved{};
    std::int64_t until_ms = 0;
  };

  State(LookUpFunction function, const base::Clock& its_clock)
      : look_up(std::move(function)), clock(its_clock) {}

  const LookUpFunction look_up;
  const base::Clock& clock;

  base::Mutex mutex;
  std::condition_variable changed;
  // Hosts whose look-up is under way or in line.
  std::map<std::string, std::vector<Waiter>> waiting TENURE_GUARDED_BY(mutex);
  std::vector<std::string> in_line TENURE_GUARDED_BY(mutex);  // that wait for a thread
  std::map<std::string, Kept> kept TENURE_GUARDED_BY(mutex);
  std::size_t threads TENURE_GUARDED_BY(mutex) = 0;
  bool stopped TENURE_GUARDED_BY(mutex) = false;

  std::thread expirer;  // of the owner
};

Resolver::Resolver(LookUpFunction look_up, const base::Clock& clock)
    : state_(std::make_shared<State>(std::move(look_up), clock)) {
  state_->expirer = std::thread([state = state_] { Expire(state); });
}

void Resolver::Find(const std::string& host, std::int64_t timeout_ms, Done done) {
  State& state = *state_;
  const std::int64_t now_ms = state.clock.BootMs();
  base::Lock lock(state.mutex);
  if (state.stopped) {
    lock.unlock();
    return done({{}, "the program is stopping"});
  }
  if (const auto kept = state.kept.find(host);
      kept != state.kept.end() && now_ms < kept->second.until_ms) {
    Resolved resolved = kept->second.resolved;
    lock.unlock();
    return done(std::move(resolved));
  }
  // An entry without waiters is one whose waiters have given up: its look-up is still under way.
  const auto [entry, is_first] = state.waiting.try_emplace(host);
  entry->second.push_back({now_ms + timeout_ms, std::move(done)});
  if (is_first) {
    if (state.threads < kMostThreads) {
      ++state.threads;
      std::thread([shared = state_, host] { Serve(shared, host); }).detach();
    } else {
      state.in_line.push_back(host);
    }
  }
  state.changed.notify_all();
}

void Resolver::Serve(const std::shared_ptr<State>& state, std::string host) {
  while (true) {
    const Resolved resolved = state->look_up(host);
    std::vector<State::Waiter> waiters;
    std::optional<std::string> next;
    {
      const base::Lock lock(state->mutex);
      if (auto node = state->waiting.extract(host); !node.empty())
        waiters = std::move(node.mapped());
      if (state->stopped) waiters.clear();
      const std::int64_t now_ms = state->clock.BootMs();
      std::erase_if(state->kept, [&](const auto& one) { return one.second.until_ms <= now_ms; });
      if (resolved.error.empty() && state->kept.size() < kMostKept)
        state->kept[host] = {resolved, now_ms + kKeptMs};
      if (!state->in_line.empty() && !state->stopped) {
        next = std::move(state->in_line.front());
        state->in_line.erase(state->in_line.begin());
      } else {
        --state->threads;
      }
    }
    for (State::Waiter& waiter : waiters) waiter.done(resolved);
    if (!next) return;
    host = *std::move(next);
  }
}

/// Answers those whose time is over.
void Resolver::Expire(const std::shared_ptr<State>& state) {
  base::Lock lock(state->mutex);
  while (!state->stopped) {
    const std::int64_t now_ms = state->clock.BootMs();
    std::int64_t next_ms = now_ms + 60'000;
    std::vector<Done> late;
    for (auto& [host, waiters] : state->waiting) {
      std::erase_if(waiters, [&](State::Waiter& waiter) {
        if (waiter.until_ms > now_ms) return false;
        late.push_back(std::move(waiter.done));
        return true;
      });
      for (const State::Waiter& waiter : waiters) next_ms = std::min(next_ms, waiter.until_ms);
    }
    if (!late.empty()) {
      lock.unlock();
      for (Done& done : late) done({{}, "the name server did not answer in time"});
      lock.lock();
      continue;
    }
    state->changed.wait_for(lock.native(), std::chrono::milliseconds(next_ms - now_ms));
  }
}

void Resolver::Stop() {
  std::vector<Done> left;
  {
    const base::Lock lock(state_->mutex);
    if (state_->stopped) return;
    state_->stopped = true;
    for (auto& [host, waiters] : state_->waiting)
      for (State::Waiter& waiter : waiters) left.push_back(std::move(waiter.done));
    state_->waiting.clear();
    state_->changed.notify_all();
  }
  state_->expirer.join();
  for (Done& done : left) done({{}, "the program is stopping"});
}

}  // namespace tenure::push
