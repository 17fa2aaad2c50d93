#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/mutex.hpp"
#include "tenure/leases/provider.hpp"

namespace tenure::client {

/// What a provider counts. Threads: any.
class ProviderCounters {
 public:
  void Count(std::string_view operation, std::string_view outcome, double seconds);
  void Conflict();
  void Throttled();
  void RequestUnits(double units);
  void ClockOffset(std::int64_t store_ahead_ms);
  /// A fetch of a token, and how long the one that is there lasts from now on.
  void Token(std::string_view mode, std::string_view result, double remaining_seconds);
  /// Its tokens are this one's too. Before anybody else uses this one.
  void Include(std::shared_ptr<const ProviderCounters> tokens) { included_ = std::move(tokens); }
  leases::ProviderStats stats() const;

 private:
  std::shared_ptr<const ProviderCounters> included_;
  mutable base::Mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::pair<std::int64_t, double>> requests_
      TENURE_GUARDED_BY(mutex_);
  std::map<std::pair<std::string, std::string>, std::int64_t> tokens_ TENURE_GUARDED_BY(mutex_);
  std::int64_t token_ends_ms_ TENURE_GUARDED_BY(mutex_) = 0;
  leases::ProviderStats others_ TENURE_GUARDED_BY(mutex_);  // the rest
};

}  // namespace tenure::client
