#pragma once

#include <string_view>
#include <vector>

#include "client/redis/reply.hpp"
#include "tenure/leases/types.hpp"

/// What the scripts of leases answered (lua/), in the library's types. Whatever is not as the
/// scripts write it is a leases::ProviderUnavailable.
namespace tenure::client {

/// What the caller asked with, and the script does not repeat.
struct GrantContext {
  std::string_view name;
  std::string_view term;
  leases::Milliseconds waited{0};
};

leases::AcquireOutcome ReadAcquired(const RedisReply& reply, const GrantContext& asked);
leases::RenewOutcome ReadRenewed(const RedisReply& reply, const GrantContext& asked);
leases::ReleaseOutcome ReadReleased(const RedisReply& reply);
std::optional<leases::BreakOutcome> ReadBroken(const RedisReply& reply);
std::optional<leases::LeaseView> ReadLease(const RedisReply& reply);
struct LeasePage {
  std::string next{};  ///< the name after which to go on; empty: there are no more
  std::vector<leases::LeaseView> views{};
};
LeasePage ReadLeases(const RedisReply& reply);

}  // namespace tenure::client
