#include "client/redis/fitness.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "client/redis/address.hpp"
#include "tenure/leases/errors.hpp"

namespace tenure::client {
namespace {

using testing::HasSubstr;

constexpr const char* kInfo =
    "# Server\r\nredis_version:7.0.15\r\nredis_mode:standalone\r\nrun_id:aa\r\n"
    "uptime_in_seconds:12\r\n\r\n# Persistence\r\nloading:0\r\naof_enabled:1\r\n\r\n"
    "# Replication\r\nrole:master\r\nconnected_slaves:0\r\nmaster_replid:bb\r\n"
    "second_repl_offset:-1\r\n\r\n"
    "# Memory\r\nmaxmemory_policy:noeviction\r\n";

RedisFacts Good() {
  RedisFacts facts = ReadRedisFacts(kInfo);
  facts.appendfsync = "always";
  return facts;
}

std::string Refusal(const std::function<void(RedisFacts&)>& spoil) {
  RedisFacts facts = Good();
  spoil(facts);
  try {
    CheckFit(facts);
  } catch (const leases::UnfitStore& error) {
    return std::string("unfit: ") + error.what();
  } catch (const leases::ProviderUnavailable& error) {
    return std::string("unavailable: ") + error.what();
  }
  return {};
}

std::string Forgets(const std::function<void(RedisFacts&)>& spoil) {
  RedisFacts facts = Good();
  spoil(facts);
  return WhyItMayForget(facts);
}

TEST(RedisFitness, ReadsWhatARedisSaysOfItself) {
  const RedisFacts facts = ReadRedisFacts(kInfo);
  EXPECT_EQ(facts.version, "7.0.15");
  EXPECT_EQ(facts.run_id, "aa");
  EXPECT_EQ(facts.replication_id, "bb");
  EXPECT_EQ(facts.uptime_s, 12);
  EXPECT_TRUE(facts.aof);
  EXPECT_TRUE(facts.master);
  EXPECT_FALSE(facts.promoted);
  EXPECT_FALSE(facts.appendfsync.has_value());
  CheckFit(facts);
}

TEST(RedisFitness, WhatCannotKeepLeasesIsRefusedWithTheSetting) {
  EXPECT_EQ(Refusal([](RedisFacts&) {}), "");
  EXPECT_THAT(Refusal([](RedisFacts& f) { f.cluster = true; }),
              HasSubstr("unfit: this Redis is a cluster"));
  EXPECT_THAT(Refusal([](RedisFacts& f) { f.version = "5.0.14"; }), HasSubstr("6.0 or later"));
  for (const char* policy : {"allkeys-lru", "volatile-ttl"})
    EXPECT_THAT(Refusal([&](RedisFacts& f) { f.maxmemory_policy = policy; }),
                HasSubstr("set maxmemory-policy noeviction"));
  EXPECT_THAT(Refusal([](RedisFacts& f) { f.master = false; }),
              HasSubstr("unavailable: this Redis is a replica"));
  EXPECT_THAT(Refusal([](RedisFacts& f) { f.loading = true; }),
              HasSubstr("unavailable: this Redis still loads"));
  EXPECT_THAT(Refusal([](RedisFacts& f) { f.run_id.clear(); }),
              HasSubstr("does not say that it is a Redis"));
}

TEST(RedisFitness, WhatMayForgetSaysWhatToSet) {
  EXPECT_EQ(Forgets([](RedisFacts&) {}), "");
  EXPECT_THAT(Forgets([](RedisFacts& f) { f.aof = false; }), HasSubstr("appendonly yes"));
  EXPECT_THAT(Forgets([](RedisFacts& f) { f.appendfsync = "everysec"; }),
              HasSubstr("set appendfsync always (it is everysec)"));
  EXPECT_THAT(Forgets([](RedisFacts& f) { f.appendfsync.reset(); }),
              HasSubstr("CONFIG GET is refused"));
  EXPECT_THAT(Forgets([](RedisFacts& f) { f.maxmemory_policy.reset(); }),
              HasSubstr("maxmemory-policy"));
  EXPECT_THAT(Forgets([](RedisFacts& f) { f.replicas = 1; }), HasSubstr("replicas"));
}

TEST(RedisFitness, ARestartIsToldFromAFailover) {
  const RedisFacts before = Good();
  RedisFacts now = before;
  EXPECT_EQ(Compare(before, now, 60'000), Meeting::kSame);
  now.replication_id = "cc";
  EXPECT_EQ(Compare(before, now, 60'000), Meeting::kAnother) << "it followed another one meanwhile";
  now.run_id = "dd";
  now.uptime_s = 0;
  EXPECT_EQ(Compare(before, now, 100), Meeting::kRestarted);
  now.promoted = true;
  EXPECT_EQ(Compare(before, now, 100), Meeting::kAnother) << "though it is young";
  now.promoted = false;
  now.uptime_s = 30;
  EXPECT_EQ(Compare(before, now, 60'000), Meeting::kRestarted);
  EXPECT_EQ(Compare(before, now, 10'000), Meeting::kAnother) << "it was up before";
}

// ---- addresses

std::string AddressRefusal(std::string_view url, const leases::ProviderOptions& options = {}) {
  try {
    ParseRedisUrl(url, options);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST(RedisAddress, IsReadWithEveryPart) {
  const RedisAddress full = ParseRedisUrl(
      "rediss://me:p%40ss@[::1]:7000/3?prefix=app:&max_ttl=90s&replicas=2&ca_file=/ca.pem", {});
  EXPECT_TRUE(full.tls);
  EXPECT_EQ(full.host, "::1");
  EXPECT_EQ(full.port, 7000);
  EXPECT_EQ(full.db, 3);
  EXPECT_EQ(full.user, "me");
  EXPECT_EQ(full.password, "p@ss");
  EXPECT_EQ(full.prefix, "app:");
  EXPECT_EQ(full.max_ttl, leases::Milliseconds(90'000));
  EXPECT_EQ(full.replicas, 2);
  EXPECT_EQ(full.ca_file, "/ca.pem");
  const RedisAddress least = ParseRedisUrl("redis://localhost", {});
  EXPECT_EQ(least.port, 6379);
  EXPECT_EQ(least.prefix, "tenure:");
  EXPECT_EQ(ParseRedisUrl("redis+unix:///run/r.sock?prefix=a", {}).socket_path, "/run/r.sock");
  EXPECT_EQ(ParseRedisUrl("rediss://:secret@h", {}).password, "secret");
  EXPECT_EQ(ParseRedisUrl("rediss://h", {.ca_file = "/c"}).ca_file, "/c");
  EXPECT_EQ(ParseRedisUrl("redis://db.example", {.allow_plaintext = true}).host, "db.example");
}

TEST(RedisAddress, WhatIsWrongIsNamedAndNoSecretIsRepeated) {
  EXPECT_THAT(AddressRefusal("rediss://"), HasSubstr("names no host"));
  EXPECT_THAT(AddressRefusal("rediss://h:0"), HasSubstr("port"));
  EXPECT_THAT(AddressRefusal("rediss://h:70000"), HasSubstr("port"));
  EXPECT_THAT(AddressRefusal("rediss://[::1"), HasSubstr("']'"));
  EXPECT_THAT(AddressRefusal("rediss://h/x"), HasSubstr("database"));
  EXPECT_THAT(AddressRefusal("rediss://h?colour=red"), HasSubstr("not known: colour"));
  EXPECT_THAT(AddressRefusal("rediss://h?max_ttl=1s&max_ttl=2s"), HasSubstr("max_ttl twice"));
  EXPECT_THAT(AddressRefusal("rediss://h?max_ttl=10ms"), HasSubstr("max_ttl"));
  EXPECT_THAT(AddressRefusal("rediss://h?replicas=-1"), HasSubstr("replicas"));
  EXPECT_THAT(AddressRefusal("rediss://h?prefix="), HasSubstr("prefix of the address is empty"));
  EXPECT_THAT(AddressRefusal("rediss://h?prefix"), HasSubstr("NAME=VALUE"));
  EXPECT_THAT(AddressRefusal("rediss://h?prefix=%zz"), HasSubstr("hex"));
  EXPECT_THAT(AddressRefusal("rediss://h?cert_file=/c"), HasSubstr("key_file"));
  EXPECT_THAT(AddressRefusal("redis://localhost?ca_file=/c"), HasSubstr("rediss://"));
  EXPECT_THAT(AddressRefusal("redis+unix://relative"), HasSubstr("redis+unix:///path"));
  EXPECT_THAT(AddressRefusal("rediss://me@h"), HasSubstr("password_file"));
  EXPECT_THAT(AddressRefusal("rediss://h?password_file=/no/such/file"), HasSubstr("password_file"));
  const std::string in_clear = AddressRefusal("redis://:hunter2@db.example");
  EXPECT_THAT(in_clear, HasSubstr("--allow-plaintext"));
  EXPECT_THAT(in_clear, testing::Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace tenure::client
