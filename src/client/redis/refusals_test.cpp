// What a Redis may not be, and what it may not be asked for: each is refused before anything is
// granted, and says what to change.

#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::leases {
namespace {

using support::RedisServer;
using testing::HasSubstr;
using testing::Not;

constexpr Milliseconds kPatient{10'000};

/// "unfit: …", "unavailable: …", "denied: …", "invalid: …", or nothing.
std::string RefusalOf(const std::function<void()>& act) {
  try {
    act();
  } catch (const UnfitStore& error) {
    return std::string("unfit: ") + error.what();
  } catch (const ProviderUnavailable& error) {
    return std::string("unavailable: ") + error.what();
  } catch (const AccessDenied& error) {
    return std::string("denied: ") + error.what();
  } catch (const std::invalid_argument& error) {
    return std::string("invalid: ") + error.what();
  }
  return {};
}
std::string OpeningRefused(const std::string& url, const ProviderOptions& options = {}) {
  return RefusalOf([&] { OpenProvider(url, options); });
}

TEST(RedisRefusals, AProgramIsRefusedByARedisThatMayForgetUntilItAcceptsThat) {
  const RedisServer server({.durable = false});
  const std::string refused = RefusalOf([&] { Open(server.Url()); });
  EXPECT_THAT(refused, HasSubstr("unfit: "));
  EXPECT_THAT(refused, HasSubstr("grants that outlive a crash of the store"));
  EXPECT_THAT(refused, HasSubstr("set appendonly yes and appendfsync always"));
  EXPECT_THAT(refused, HasSubstr("require_durable_grant"));
  EXPECT_THAT(refused, HasSubstr("--allow-forgetting"));
  EXPECT_EQ(RefusalOf([&] { Open(server.Url(), {.require_durable_grant = false}); }), "");
  RedisServer lazy({.durable = true, .arguments = {"--appendfsync", "everysec"}});
  EXPECT_THAT(RefusalOf([&] { Open(lazy.Url()); }), HasSubstr("set appendfsync always"));
  lazy.Command({"config", "set", "appendfsync", "always"});
  EXPECT_EQ(RefusalOf([&] { Open(lazy.Url()); }), "");
}

TEST(RedisRefusals, ARedisThatThrowsKeysAwayIsRefused) {
  const RedisServer server({.durable = true, .arguments = {"--maxmemory-policy", "volatile-lru"}});
  EXPECT_THAT(OpeningRefused(server.Url()), HasSubstr("unfit: this Redis throws keys away"));
}

TEST(RedisRefusals, AClusterIsRefused) {
  const RedisServer server(
      {.durable = true, .tls = true, .arguments = {"--cluster-enabled", "yes"}});
  EXPECT_THAT(OpeningRefused(server.Url()), HasSubstr("unfit: this Redis is a cluster"));
}

TEST(RedisRefusals, AReplicaIsNotWritten) {
  const RedisServer replica({.durable = true, .arguments = {"--replicaof", "127.0.0.1 1"}});
  EXPECT_THAT(OpeningRefused(replica.Url()), HasSubstr("unavailable: this Redis is a replica"));
}

TEST(RedisRefusals, NobodyAndStrangersAreUnavailable) {
  const support::TempDir dir;
  EXPECT_THAT(OpeningRefused("redis+unix://" + (dir / "none.sock").string()),
              HasSubstr("unavailable: no Redis answers"));
  const support::ReservedPort nobody;
  EXPECT_THAT(OpeningRefused("redis://127.0.0.1:" + std::to_string(nobody.number())),
              HasSubstr("unavailable: no Redis answers"));
}

TEST(RedisRefusals, ACertificateThatDoesNotFitIsUnavailable) {
  const RedisServer server({.durable = true, .tls = true});
  const RedisServer other({.durable = true, .tls = true});
  EXPECT_EQ(OpeningRefused(server.TlsUrl()), "");
  const std::string port = std::to_string(server.port());
  EXPECT_THAT(OpeningRefused("rediss://localhost:" + port), HasSubstr("unavailable: "))
      << "the system does not know our authority";
  EXPECT_THAT(OpeningRefused("rediss://localhost:" + port + "?ca_file=" + other.ca_file().string()),
              HasSubstr("no TLS"));
  EXPECT_THAT(
      OpeningRefused("rediss://127.0.0.2:" + port + "?ca_file=" + server.ca_file().string()),
      HasSubstr("unavailable: "));
  EXPECT_EQ(OpeningRefused("rediss://127.0.0.1:" + port, {.ca_file = server.ca_file()}), "");
  EXPECT_THAT(OpeningRefused("rediss://localhost:" + port + "?ca_file=/no/such/file"),
              HasSubstr("invalid: ca_file /no/such/file"));
  EXPECT_THAT(OpeningRefused("redis://localhost:" + port), HasSubstr("unavailable: "))
      << "plain text to a port with TLS";
}

TEST(RedisRefusals, APasswordIsReadFromItsFileAndNeverRepeated) {
  const RedisServer server({.durable = true, .arguments = {"--requirepass", "hunter2secret"}});
  const support::TempDir dir;
  const auto with = [&](const std::string& password) {
    std::ofstream(dir / "password") << password << "\n";
    return OpeningRefused(server.Url("password_file=" + (dir / "password").string()));
  };
  EXPECT_EQ(with("hunter2secret"), "");
  const std::string wrong = with("hunter3secret");
  EXPECT_THAT(wrong, HasSubstr("denied: "));
  EXPECT_THAT(wrong, HasSubstr("WRONGPASS"));
  EXPECT_THAT(wrong, Not(HasSubstr("hunter3")));
  EXPECT_THAT(with(""), HasSubstr("invalid: password_file"));
  EXPECT_THAT(OpeningRefused(server.Url()), HasSubstr("denied: the Redis says: NOAUTH"));
}

TEST(RedisRefusals, ARightThatIsMissingIsNamed) {
  const RedisServer server;
  // The rights of docs/lease-stores.md.
  const std::vector<std::string> rights = {
      "on",      ">pw",      "resetkeys", "~tenure:*",  "resetchannels",  "&tenure:*",
      "-@all",   "+evalsha", "+eval",     "+info",      "+time",          "+ping",
      "+auth",   "+select",  "+publish",  "+subscribe", "+config|get",    "+wait",
      "+hmget",  "+hset",    "+hget",     "+hsetnx",    "+pexpireat",     "+exists",
      "+zadd",   "+zrem",    "+zrange",   "+zrevrange", "+zrangebyscore", "+zrangebylex",
      "+zscore", "+zcard",   "+zcount"};
  std::vector<std::string> command{"acl", "setuser", "app"};
  command.insert(command.end(), rights.begin(), rights.end());
  EXPECT_THAT(server.Command(command), HasSubstr("OK"));
  const support::TempDir dir;
  std::ofstream(dir / "password") << "pw";
  const std::string url = server.Url("user=app&password_file=" + (dir / "password").string());
  const auto connection = OpenProvider(url)->Connect();
  const std::string first = NewTerm(), second = NewTerm();
  const auto grant = std::get<Grant>(
      connection->Acquire({.name = "a", .term = first, .wait = Milliseconds(1)}, kPatient));
  const RenewRequest renewal{.name = "a", .fence = grant.fence, .term = first};
  EXPECT_TRUE(std::holds_alternative<Grant>(connection->Renew({&renewal, 1}, kPatient).at(0)));
  EXPECT_EQ(connection->List({}, kPatient).size(), 1U);
  EXPECT_TRUE(connection->Get("a", kPatient).has_value());
  EXPECT_TRUE(connection->Break({.name = "a", .reason = "x", .force = true}, kPatient)->broken);
  EXPECT_TRUE(
      std::holds_alternative<Grant>(connection->Acquire({.name = "a", .term = second}, kPatient)));
  EXPECT_TRUE(connection->Release({.name = "a", .term = second}, kPatient).released);

  server.Command({"acl", "setuser", "app", "-hset"});
  EXPECT_THAT(RefusalOf([&] { connection->Acquire({.name = "b", .term = NewTerm()}, kPatient); }),
              HasSubstr("denied: the Redis says: "));
  server.Command({"acl", "setuser", "app", "-info"});
  EXPECT_THAT(OpeningRefused(url), HasSubstr("denied: the Redis says: NOPERM"));
}

TEST(RedisRefusals, ProgramsThatShareAForgettingRedisSayTheSameLongestTtl) {
  const RedisServer server({.durable = false});
  const auto first = OpenProvider(server.Url("max_ttl=2s"));
  EXPECT_THAT(OpeningRefused(server.Url("max_ttl=1s")),
              HasSubstr("unfit: the programs that share"));
  const auto second = OpenProvider(server.Url());  // takes what the first one said
  for (const auto* provider : {&first, &second}) {
    const auto connection = (*provider)->Connect();
    EXPECT_THAT(RefusalOf([&] {
                  connection->Acquire({.name = "a", .term = NewTerm(), .ttl = Milliseconds(2'001)},
                                      kPatient);
                }),
                HasSubstr("invalid: ttl must be at most 2s (max_ttl)"));
  }
}

TEST(RedisRefusals, ARedisThatForgetsFromNowOnIsRefusedByWhoWasPromisedMore) {
  const RedisServer server;
  const auto provider = OpenProvider(server.Url());
  ASSERT_TRUE(provider->guarantees().durable_grant);
  server.Command({"config", "set", "appendfsync", "no"});
  const auto connection = provider->Connect();
  EXPECT_THAT(RefusalOf([&] { connection->Get("a", kPatient); }),
              HasSubstr("unfit: this Redis kept every grant when this program began"));
}

}  // namespace
}  // namespace tenure::leases
