#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.hpp"
#include "webhooks/probe.hpp"
#include "webhooks/snapshot.hpp"

namespace tenure::webhooks {

/// Whether this process can read a secret now.
bool CanRead(const bots::SecretPlace& place);

/// The secrets of the sources, as this process could read them. A file that went away takes its
/// secret with it, and one that comes back brings it: no restart. Threads: any; reading the files is
/// nothing for an event loop.
class SecretKeeper {
 public:
  using Secrets = std::shared_ptr<const std::vector<std::string>>;

  explicit SecretKeeper(Probe& probe) : probe_(probe) {}

  /// Reads all of them again. What could not be read is logged when that changes. Those of an older
  /// revision than were read last are left alone.
  void Read(const Snapshot& bots);
  /// Empty: none could be read.
  Secrets Of(std::string_view source) const;

 private:
  Probe& probe_;
  mutable base::Mutex mutex_;
  std::int64_t revision_ TENURE_GUARDED_BY(mutex_) = 0;
  std::map<std::string, Secrets, std::less<>> secrets_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::webhooks
