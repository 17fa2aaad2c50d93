#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/redis/address.hpp"
#include "client/redis/reply.hpp"
#include "client/redis/wire.hpp"

namespace tenure::client {

/// A connection that has said who it is and chosen its database. Who shows tokens says so again with each
/// new one, long before the old one ends. After a WireError it is of no use.
/// Threads: one at a time.
class RedisLink {
 public:
  /// Throws WireError, leases::AccessDenied for a user or password that is not taken.
  RedisLink(const RedisAddress& address, const WireTls* tls, int cancel_fd, std::int64_t until_ms);

  /// Sends all commands at once; a reply for each, in their order. A command that is refused is a
  /// reply like others.
  std::vector<RedisReply> Ask(std::span<const RedisCommand> commands, std::int64_t until_ms);
  RedisReply Ask(const RedisCommand& command, std::int64_t until_ms);

  // For who listens.
  void Send(const RedisCommand& command, std::int64_t until_ms);
  /// Who listens cannot say anew who it is: the connection has come to its end.
  bool IsOutdated(std::int64_t until_ms) const;
  /// Nothing: the time was over.
  std::optional<RedisReply> Read(std::int64_t until_ms);

  /// Whether the last commands may have reached the server.
  bool was_sent() const { return wire_.anything_sent; }
  bool IsStale() { return wire_.IsStale(); }

 private:
  std::vector<RedisReply> AskAll(std::span<const RedisCommand> commands, std::int64_t until_ms);
  void SayWho(const std::string& user, const std::string& password, std::int64_t until_ms);
  void ShowToken(std::int64_t until_ms);

  const std::string user_;
  const std::shared_ptr<TokenCache> tokens_;  // null: none
  std::string token_;                         // that was shown last
  Wire wire_;
  ReplyParser parser_;
};

/// Throws what an error reply is: AccessDenied, UnfitStore or ProviderUnavailable. `unknown_when`:
/// the outcome of what was asked is unknown where the error does not say that nothing happened.
[[noreturn]] void ThrowRedisError(const RedisReply& error, bool unknown_when);

}  // namespace tenure::client
