// What an address of Azure may not be, and what a store there may not be: each says what is wrong.

#include <fstream>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/azure_stores.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::leases {
namespace {

using support::Azurite;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr Milliseconds kPatience{10'000};
const std::string kSomeKey = "c2VjcmV0c2VjcmV0";

/// "unfit: …", "unavailable: …", "denied: …", "invalid: …", or nothing.
std::string AzureRefusal(const std::function<void()>& act) {
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
std::string Refused(const std::string& url, const std::string& connection_string = "") {
  return AzureRefusal([&] {
    OpenProvider(url, {.azure = {.connection_string = connection_string}})
        ->Connect()
        ->Get("a", kPatience);
  });
}

TEST(AzureAddress, WhatIsNoAddressIsRefusedByName) {
  const std::string key = "AccountName=acct;AccountKey=" + kSomeKey;
  EXPECT_THAT(Refused("azblob://", key),
              HasSubstr("invalid: the address of the Azure store names no account"));
  EXPECT_THAT(Refused("azblob://acct", key), HasSubstr("names no container"));
  EXPECT_THAT(Refused("azblob://acct/", key), HasSubstr("names no container"));
  EXPECT_THAT(Refused("azblob://acct/c", key), HasSubstr("3 to 63"));
  EXPECT_THAT(Refused("azblob://acct/Con", key), HasSubstr("3 to 63"));
  EXPECT_THAT(Refused("azblob://ac.ct/con", key), HasSubstr("has a account with characters"));
  EXPECT_THAT(Refused("azblob://acct/con/..", key), HasSubstr("prefix"));
  EXPECT_THAT(Refused("azblob://acct/con/a//b", key), HasSubstr("empty step"));
  EXPECT_THAT(Refused("azblob://key@acct/con", key), HasSubstr("never stand in an address"));
  EXPECT_THAT(Refused("azblob://acct/con?colour=red", key), HasSubstr("colour"));
  EXPECT_THAT(Refused("azblob://acct/con?poll=1", key), HasSubstr("poll"));
  EXPECT_THAT(Refused("azblob://acct/con?create=2", key), HasSubstr("create"));
  EXPECT_THAT(Refused("azblob://acct/con?parallel=0", key), HasSubstr("parallel"));
  EXPECT_THAT(Refused("azblob://acct/con?min_ttl=1ms", key), HasSubstr("min_ttl"));
  EXPECT_THAT(Refused("azblob://acct/con?endpoint=http://blobs.example/acct", key),
              HasSubstr("invalid: the parameter endpoint"));
  EXPECT_THAT(Refused("azblob://acct/con?endpoint=ftp://x", key), HasSubstr("endpoint"));
  EXPECT_THAT(Refused("cosmos://acct/db", key), HasSubstr("names no container"));
  EXPECT_THAT(Refused("cosmos://acct", key), HasSubstr("names no database"));
  EXPECT_THAT(Refused("cosmos://acct/db/c/more", key), HasSubstr("behind the container"));
}

TEST(AzureConnectionString, WhatIsWrongWithItIsSaidAndNothingOfIt) {
  const auto refused = [](const std::string& text) { return Refused("azblob://acct/con", text); };
  EXPECT_THAT(refused("hunter2"), AllOf(HasSubstr("not Name=value"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(refused("AccountName=acct"), HasSubstr("no AccountKey"));
  EXPECT_THAT(refused("AccountName=acct;AccountKey=hunter2!"),
              AllOf(HasSubstr("no AccountKey in base64"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(refused("AccountKey=" + kSomeKey), HasSubstr("no AccountName"));
  EXPECT_THAT(refused("AccountName=a;AccountName=b;AccountKey=" + kSomeKey), HasSubstr("twice"));
  EXPECT_THAT(refused("AccountName=other;AccountKey=" + kSomeKey), HasSubstr("another"));
  EXPECT_THAT(refused("DefaultEndpointsProtocol=http;AccountName=acct;AccountKey=" + kSomeKey),
              HasSubstr("use https"));
  EXPECT_THAT(refused("BlobEndpoint=http://x.example;AccountName=acct;AccountKey=" + kSomeKey),
              HasSubstr("BlobEndpoint"));
  EXPECT_THAT(refused("AccountName=acct;SharedAccessSignature=hunter2"),
              AllOf(HasSubstr("shared access signature"), Not(HasSubstr("hunter2"))));
  EXPECT_THAT(refused("AccountEndpoint=https://a.example;AccountKey=" + kSomeKey),
              HasSubstr("Cosmos DB"));
  EXPECT_THAT(Refused("azblob://acct/con?endpoint=https://b.example",
                      "BlobEndpoint=https://a.example/;AccountName=acct;AccountKey=" + kSomeKey),
              HasSubstr("another endpoint than"));
  const support::TempDir dir;
  const auto from_file = [&](const std::string& path) {
    return AzureRefusal(
        [&] { OpenProvider("azblob://acct/con", {.azure = {.connection_string_file = path}}); });
  };
  EXPECT_THAT(from_file(dir / "none"), HasSubstr("azure.connection_string_file"));
  std::ofstream(dir / "empty") << "\n";
  EXPECT_THAT(from_file(dir / "empty"), HasSubstr("empty"));
  std::ofstream(dir / "good") << "AccountName=acct;AccountKey=" << kSomeKey << "\n";
  EXPECT_EQ(from_file(dir / "good"), "");
}

class BlobRefusals : public testing::Test {
 protected:
  void SetUp() override {
    if (!support::HasAzureStores())
      GTEST_SKIP() << "npm ci was not run in tests/node; ./test does it";
  }
  static Azurite& Blobs() {
    static Azurite azurite;
    return azurite;
  }
  static std::unique_ptr<Connection> Connect(const std::string& container,
                                             const std::string& parameters = "create=1") {
    return OpenProvider(Blobs().Url(container, parameters),
                        {.azure = {.connection_string = Blobs().ConnectionString()}})
        ->Connect();
  }
};

TEST_F(BlobRefusals, AContainerThatIsNotThereIsUnavailableUntilItIsMade) {
  EXPECT_THAT(AzureRefusal([] { Connect("missing", "create=0")->Get("a", kPatience); }),
              HasSubstr("unavailable: the container missing is not there; create=1"));
  EXPECT_FALSE(Connect("missing")->Get("a", kPatience).has_value());
  EXPECT_FALSE(Connect("missing", "create=0")->Get("a", kPatience).has_value());
}

TEST_F(BlobRefusals, AWrongKeyIsDeniedWithTheServicesCode) {
  const std::string wrong =
      Refused(Blobs().Url("con"),
              std::string("AccountName=") + Azurite::kAccount + ";AccountKey=" + kSomeKey);
  EXPECT_THAT(wrong, AllOf(HasSubstr("denied: "), Not(HasSubstr(kSomeKey))));
}

TEST_F(BlobRefusals, ACertificateThatDoesNotFitIsUnavailable) {
  const std::string url = Blobs().Url("con");
  const std::string trusting_nobody = url.substr(0, url.find("&ca_file"));
  EXPECT_THAT(Refused(trusting_nobody, Blobs().ConnectionString()), HasSubstr("unavailable: "));
  EXPECT_THAT(Refused(trusting_nobody + "&ca_file=/no/such/file", Blobs().ConnectionString()),
              HasSubstr("/no/such/file"));
}

TEST_F(BlobRefusals, ATtlBelowTheLeastIsRefused) {
  EXPECT_THAT(AzureRefusal([] {
                Connect("con")->Acquire(
                    {.name = "a", .term = NewTerm(), .ttl = Milliseconds(4'999)}, kPatience);
              }),
              HasSubstr("invalid: ttl must be at least 5s (min_ttl)"));
}

}  // namespace
}  // namespace tenure::leases
