#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "base/mutex.hpp"
#include "client/cas/store.hpp"
#include "client/failure.hpp"
#include "tenure/leases/azure.hpp"

namespace tenure::client {

/// One token of one source for one scope, kept in memory and renewed in time on a thread of its own.
///
///  (1) Who asks while the token is valid gets it at once, however long its renewal takes or fails.
///  (2) A token is valid for its lifetime from before it was asked for, on a clock that goes on while
///      the machine sleeps: never longer than its issuer thinks.
///  (3) One fetch at a time. After a failure the next one waits, 1 s to 30 s or what the issuer asks
///      for; meanwhile, without a valid token, who asks is told of that failure.
///
/// The thread begins with the first question and ends with this object. Threads: any.
class TokenCache {
 public:
  /// Times that a test makes shorter.
  struct Timing {
    leases::Milliseconds early{5 * 60'000};  ///< a token is renewed so long before its end, or…
    leases::Milliseconds first_pause{1'000};
    leases::Milliseconds longest_pause{30'000};
    leases::Milliseconds call{10'000};  ///< one fetch, which the end of this object waits for
  };
  TokenCache(std::shared_ptr<leases::TokenSource> source, std::string scope, std::string mode,
             std::shared_ptr<ProviderCounters> counters, Timing timing);
  ~TokenCache();
  TokenCache(const TokenCache&) = delete;
  TokenCache& operator=(const TokenCache&) = delete;

  /// Throws CallFailed: kDenied when the issuer said no.
  std::string Get(const CasCall& call);
  std::shared_ptr<const ProviderCounters> counters() const { return counters_; }

  /// The store did not take this one: another, where there is one. Nothing: there is none for now.
  std::optional<std::string> InPlaceOf(const std::string& refused, const CasCall& call);

 private:
  struct Token {
    std::string text{};
    std::int64_t renew_at_ms = 0;
    std::int64_t ends_ms = 0;
  };

  void Run();
  void Fetch(base::Lock& lock) TENURE_NOT_ANALYSED;
  void Begin() TENURE_REQUIRES(mutex_);
  bool HasValid() const TENURE_REQUIRES(mutex_);
  template <class Condition>
  bool Wait(base::Lock& lock, const CasCall& call, const Condition& condition);

  const std::shared_ptr<leases::TokenSource> source_;
  const std::string scope_;
  const std::string mode_;
  const std::shared_ptr<ProviderCounters> counters_;
  const Timing timing_;

  base::Mutex mutex_;
  std::condition_variable changed_;
  Token token_ TENURE_GUARDED_BY(mutex_);
  std::optional<CallFailed> failure_ TENURE_GUARDED_BY(mutex_);  // of the last fetch
  std::int64_t next_ms_ TENURE_GUARDED_BY(mutex_) = 0;           // of the next fetch
  std::int64_t forced_ms_ TENURE_GUARDED_BY(mutex_);  // when a refused token was last replaced
  std::int64_t fetches_ TENURE_GUARDED_BY(mutex_) = 0;
  int failures_ TENURE_GUARDED_BY(mutex_) = 0;  // in a row
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::client
