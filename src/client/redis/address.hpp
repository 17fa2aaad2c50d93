#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tenure/leases/provider.hpp"

namespace tenure::client {

class TokenCache;

/// How a Redis is reached, and what is asked of it.
struct RedisAddress {
  std::string host{};
  std::uint16_t port = 6379;
  std::string socket_path{};  ///< of a Unix socket, instead of host and port
  bool tls = false;
  std::string user{};
  std::string password{};
  /// Of Microsoft Entra, in place of a password; without a user the token says who that is.
  std::shared_ptr<TokenCache> tokens{};
  std::int64_t db = 0;

  std::string prefix = "tenure:";                 ///< of all keys and of the channel
  std::optional<leases::Milliseconds> max_ttl{};  ///< of a Redis that may forget; empty: as others
  int replicas = 0;                               ///< that must have a write before it counts

  std::string ca_file{};  ///< whose certificates count; empty: the system's
  std::string cert_file{};
  std::string key_file{};
};

bool IsRedisUrl(std::string_view url);

/// "rediss://[user[:password]@]host[:6379][/db][?…]", "redis://…" of this machine (of another one
/// with `allow_plaintext`), "redis+unix:///path.sock". Reads the password's file; finds who gives tokens
/// where the program or the environment says who it is to Azure. Throws
/// std::invalid_argument that says what is wrong and repeats no secret.
RedisAddress ParseRedisUrl(std::string_view url, const leases::ProviderOptions& options);

}  // namespace tenure::client
