#include "client/redis/fitness.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "tenure/leases/errors.hpp"

namespace tenure::client {
namespace {

using leases::ProviderUnavailable;
using leases::UnfitStore;

constexpr std::int64_t kOldestMajor = 6;

std::int64_t LeadingNumber(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

void NoteFact(std::string_view field, std::string_view value, RedisFacts& facts) {
  if (field == "redis_version") facts.version = value;
  if (field == "run_id") facts.run_id = value;
  if (field == "master_replid") facts.replication_id = value;
  if (field == "second_repl_offset") facts.promoted = value != "-1";
  if (field == "uptime_in_seconds") facts.uptime_s = LeadingNumber(value);
  if (field == "redis_mode" || field == "server_mode") facts.cluster |= value == "cluster";
  if (field == "role") facts.master = value == "master";
  if (field == "loading" || field == "async_loading") facts.loading |= value == "1";
  if (field == "connected_slaves") facts.replicas = LeadingNumber(value);
  if (field == "aof_enabled") facts.aof = value == "1";
  if (field == "maxmemory_policy") facts.maxmemory_policy = value;
}

}  // namespace

RedisFacts ReadRedisFacts(std::string_view info) {
  RedisFacts facts;
  while (!info.empty()) {
    const std::size_t end = std::min(info.find('\n'), info.size());
    std::string_view line = info.substr(0, end);
    info.remove_prefix(std::min(end + 1, info.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos)
      NoteFact(line.substr(0, colon), line.substr(colon + 1), facts);
  }
  return facts;
}

void CheckFit(const RedisFacts& facts) {
  if (facts.version.empty() || facts.run_id.empty())
    throw ProviderUnavailable("what answers there does not say that it is a Redis", {});
  if (facts.cluster)
    throw UnfitStore("this Redis is a cluster: leases need a server that is none", {});
  if (LeadingNumber(facts.version) < kOldestMajor)
    throw UnfitStore(
        fmt::format("this Redis is of version {}: leases need 6.0 or later", facts.version), {});
  if (facts.maxmemory_policy && *facts.maxmemory_policy != "noeviction")
    throw UnfitStore(
        fmt::format("this Redis throws keys away when memory is short (maxmemory-policy {}), "
                    "leases among them: set maxmemory-policy noeviction",
                    *facts.maxmemory_policy),
        {});
  if (!facts.master)
    throw ProviderUnavailable("this Redis is a replica: leases are kept on the primary", {});
  if (facts.loading) throw ProviderUnavailable("this Redis still loads what it kept", {});
}

std::string WhyItMayForget(const RedisFacts& facts) {
  if (!facts.aof) return "set appendonly yes and appendfsync always";
  if (!facts.appendfsync)
    return "it does not say what its appendfsync is (CONFIG GET is refused), so that counts as "
           "forgetting";
  if (*facts.appendfsync != "always")
    return fmt::format("set appendfsync always (it is {})", *facts.appendfsync);
  if (!facts.maxmemory_policy)
    return "it does not say what its maxmemory-policy is, so that counts as forgetting";
  if (facts.replicas > 0)
    return "it has replicas, and one that is promoted lacks the last writes: keep leases on a "
           "Redis without";
  return {};
}

Meeting Compare(const RedisFacts& before, const RedisFacts& now, std::int64_t silent_ms) {
  if (before.run_id == now.run_id)
    return before.replication_id == now.replication_id ? Meeting::kSame : Meeting::kAnother;
  if (now.promoted) return Meeting::kAnother;
  constexpr std::int64_t kSecondMs = 1'000;
  return now.uptime_s * kSecondMs <= silent_ms + kSecondMs ? Meeting::kRestarted
                                                           : Meeting::kAnother;
}

}  // namespace tenure::client
