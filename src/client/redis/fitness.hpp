#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::client {

/// What a Redis says of itself.
struct RedisFacts {
  std::string version{};
  std::string run_id{};          ///< of the process: new at each start
  std::string replication_id{};  ///< of the history of writes: new when another one goes on with it
  std::int64_t uptime_s = 0;
  bool promoted = false;  ///< it was a replica, and this process has become the primary
  bool cluster = false;
  bool master = true;
  bool loading = false;
  std::int64_t replicas = 0;
  bool aof = false;
  std::optional<std::string> appendfsync{};       ///< empty: it does not say
  std::optional<std::string> maxmemory_policy{};  ///< empty: it does not say
};

/// Reads the text of INFO.
RedisFacts ReadRedisFacts(std::string_view info);

/// Throws leases::UnfitStore when no setting of ours makes it keep leases (a cluster, one that
/// throws keys away, one that is too old), leases::ProviderUnavailable when it cannot now (a
/// replica, one that still loads).
void CheckFit(const RedisFacts& facts);

/// Why a crash may make it forget grants that it has answered, and what to set; empty: it does not.
std::string WhyItMayForget(const RedisFacts& facts);

/// What a server may be that answers where another one did before.
enum class Meeting {
  kSame,       ///< the same process with the same history
  kRestarted,  ///< no replica before, and begun after the other was last heard of: that one again
  kAnother,    ///< a replica that was promoted, or a different server: it may lack the last writes
};
/// `silent_ms`: since the other one was last heard of. Uptimes have whole seconds, so a server that
/// began less than two seconds before that counts as restarted.
Meeting Compare(const RedisFacts& before, const RedisFacts& now, std::int64_t silent_ms);

}  // namespace tenure::client
