// `tenure lease … --store`: the commands against a server, on a store without one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/calls.hpp"
#include "support/azure_stores.hpp"
#include "support/port.hpp"
#include "support/redis_server.hpp"
#include "support/temp_dir.hpp"

namespace tenure::api {
namespace {

using support::Json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class LeaseStoreCommand : public testing::TestWithParam<std::string> {
 protected:
  static support::RedisServer& Redis() {
    static support::RedisServer redis({.durable = true, .tls = true});
    return redis;
  }
  static support::Azurite& Blobs() {
    static support::Azurite azurite;
    return azurite;
  }
  static support::CosmosServer& Documents() {
    static support::CosmosServer server;
    return server;
  }
  bool in_azure() const { return GetParam() == "azblob" || GetParam() == "cosmos"; }
  void SetUp() override {
    if (in_azure() && !support::HasAzureStoresAndTime()) GTEST_SKIP() << "only in ./test --long";
    if (in_azure())
      ::setenv(
          "TENURE_AZURE_CONNECTION_STRING",
          (GetParam() == "azblob" ? Blobs().ConnectionString() : Documents().ConnectionString())
              .c_str(),
          1);
  }
  void TearDown() override { ::unsetenv("TENURE_AZURE_CONNECTION_STRING"); }
  std::string Url() const {
    if (GetParam() == "azblob") return Blobs().Url("cli", "create=1&min_ttl=1s");
    if (GetParam() == "cosmos") return Documents().Url("cli", "create=1&min_ttl=1s");
    return GetParam() == "redis" ? Redis().TlsUrl() : "sqlite://" + (dir_ / "leases.db").string();
  }
  ProgramResult Lease(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "lease");
    const auto end = std::find(arguments.begin(), arguments.end(), "--");
    arguments.insert(end, {"--store", Url()});
    return RunTenure(std::move(arguments));
  }

  const support::TempDir dir_;
  const std::string name_ = "cli/" + NewUuid();
};
INSTANTIATE_TEST_SUITE_P(Stores, LeaseStoreCommand,
                         testing::Values("redis", "sqlite", "azblob", "cosmos"),
                         [](const auto& one) { return one.param; });

TEST_P(LeaseStoreCommand, RunsACommandWhileTheLeaseIsHeld) {
  const auto ran = Lease({"run", name_, "--", "sh", "-c", "echo $TENURE_LEASE; exit 7"});
  EXPECT_EQ(ran.exit_code, 7) << ran.err;
  EXPECT_EQ(ran.out, name_ + "\n");
  const auto nested = Lease({"run", name_, "--", support::TenureBinary(), "lease", "run", name_,
                             "--store", Url(), "--", "echo", "never"});
  EXPECT_EQ(nested.exit_code, 4) << nested.out << nested.err;
  EXPECT_THAT(nested.err, HasSubstr("is held by"));
  EXPECT_THAT(nested.err, HasSubstr("See `tenure lease show " + name_ + " --store"));
}

TEST_P(LeaseStoreCommand, LooksAndBreaksAsOnAServer) {
  EXPECT_EQ(Lease({"show", name_}).exit_code, 3);
  EXPECT_EQ(Lease({"history", name_}).exit_code, 3);
  EXPECT_EQ(Lease({"break", name_, "--reason", "x"}).exit_code, 3);
  // The command breaks its own lease: afterwards it is lost.
  const auto broken = Lease({"run", name_, "--holder", "me", "--ttl", "3s", "--", "sh", "-c",
                             support::TenureBinary().string() + " lease break " + name_ +
                                 " --reason stuck --force --store '" + Url() + "'; sleep 60"});
  EXPECT_EQ(broken.exit_code, 6) << broken.err;
  EXPECT_THAT(broken.out, HasSubstr("the grant of me"));
  const auto shown = Lease({"show", name_});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("free"));
  const auto history = Lease({"history", name_});
  EXPECT_THAT(history.out, AllOf(HasSubstr("broken"), HasSubstr("me"), HasSubstr("stuck")));
  const auto json = Json::Parse(Lease({"show", name_, "--json"}).out);
  EXPECT_EQ(json["name"].Text(), name_);
  EXPECT_EQ(json["state"].Text(), "free");
  EXPECT_EQ(json["history"][0]["reason"].Text(), "broken");
  EXPECT_THAT(Lease({"list", "--prefix", name_}).out, AllOf(HasSubstr("LEASE"), HasSubstr(name_)));
  const auto list = Json::Parse(Lease({"list", "--prefix", name_, "--json"}).out);
  EXPECT_EQ(list["items"][0]["name"].Text(), name_);
  EXPECT_EQ(Lease({"break", name_, "--reason", "x"}).exit_code, 0);
}

TEST(LeaseStoreCommands, EachTroubleWithAzureHasItsExitCode) {
  if (!support::HasAzureStoresAndTime()) GTEST_SKIP() << "only in ./test --long";
  const support::Azurite blobs;
  const auto run = [&](const std::string& store, const std::string& who,
                       const std::string& ttl = "5s") {
    return RunTenure({"lease", "run", "a", "--store", store, "--ttl", ttl, "--", "true"},
                     {{"TENURE_AZURE_CONNECTION_STRING", who}});
  };
  const std::string who = blobs.ConnectionString();
  const std::string wrong = "AccountName=tenuretest;AccountKey=c2VjcmV0c2VjcmV0";
  EXPECT_EQ(run(blobs.Url("missing"), who).exit_code, 5);
  EXPECT_EQ(run(blobs.Url("leases", "create=1"), who).exit_code, 0);
  EXPECT_EQ(run(blobs.Url("leases"), who, "4s").exit_code, 2);
  const auto denied = run(blobs.Url("leases"), wrong);
  EXPECT_EQ(denied.exit_code, 1);
  EXPECT_THAT(denied.err, Not(HasSubstr("c2VjcmV0c2VjcmV0")));
  EXPECT_EQ(run("azblob://tenuretest", who).exit_code, 2);
  EXPECT_EQ(run("azblob://tenuretest/leases?endpoint=http://blobs.example", who).exit_code, 2);
  EXPECT_EQ(run("cosmos://tenuretest/db/leases", who).exit_code, 2) << "a storage account's";
  const support::ReservedPort nobody;
  EXPECT_EQ(
      run("azblob://tenuretest/leases?endpoint=http://127.0.0.1:" + std::to_string(nobody.number()),
          who)
          .exit_code,
      5);
  const auto nobody_asks = RunTenure({"lease", "list", "--store", blobs.Url("leases")},
                                     {{"TENURE_AZURE_MODE", "magic"}});
  EXPECT_EQ(nobody_asks.exit_code, 2);
  EXPECT_THAT(nobody_asks.err, HasSubstr("azure.mode must be"));
}

TEST(LeaseStoreCommands, EachTroubleHasItsExitCode) {
  const support::RedisServer forgetting({.durable = false});
  const support::RedisServer locked({.durable = true, .arguments = {"--requirepass", "secret"}});
  const support::ReservedPort nobody;
  const auto run = [](const std::string& store, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"lease", "run", "a", "--store", store};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"--", "true"});
    return RunTenure(std::move(arguments));
  };
  const auto refused = run(forgetting.Url("max_ttl=1h"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("appendonly yes"), HasSubstr("--allow-forgetting")));
  const auto frozen = run(forgetting.Url("max_ttl=1h"), {"--allow-forgetting"});
  EXPECT_EQ(frozen.exit_code, 4) << "it has just started";
  EXPECT_THAT(frozen.err, HasSubstr("(frozen)"));
  EXPECT_EQ(run(forgetting.Url("max_ttl=2s")).exit_code, 2) << "the others have another";
  EXPECT_EQ(run(locked.Url()).exit_code, 1);
  EXPECT_EQ(run("redis://127.0.0.1:" + std::to_string(nobody.number())).exit_code, 5);
  const auto in_clear = run("redis://redis.example");
  EXPECT_EQ(in_clear.exit_code, 2);
  EXPECT_THAT(in_clear.err, HasSubstr("--allow-plaintext"));
  const auto password = run("rediss://:hunter2@127.0.0.1");
  EXPECT_EQ(password.exit_code, 2);
  EXPECT_THAT(password.err,
              AllOf(HasSubstr("others can read a command line"), Not(HasSubstr("hunter2"))));
  EXPECT_EQ(run("ftp://x").exit_code, 2);
  EXPECT_EQ(run("rediss://x?colour=red").exit_code, 2);
  EXPECT_EQ(run(forgetting.Url(), {"--server", "http://127.0.0.1:1"}).exit_code, 2);
  EXPECT_EQ(RunTenure({"lease", "list", "--allow-forgetting"}).exit_code, 2);
  EXPECT_EQ(RunTenure({"lease", "list", "--store", forgetting.Url("max_ttl=1h")}).exit_code, 0)
      << "who only looks needs no promise";
}

}  // namespace
}  // namespace tenure::api
