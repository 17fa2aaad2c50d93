// What a network and a service can do to requests, between the library and real stores: a gateway loses
// replies, holds writes back, moves the date, and answers as Azure does in trouble.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/azure_stores.hpp"
#include "tenure/clock.hpp"
#include "tenure/leases/manager.hpp"
#include "tenure/log.hpp"

namespace tenure::leases {
namespace {

using support::ReceivedRequest;
using support::StoreGateway;
using support::TlsReceiver;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

constexpr Milliseconds kEnough{20'000};

/// Whether a request changes a record.
bool IsWrite(const ReceivedRequest& request) {
  const bool asks = request.FindHeader("x-ms-documentdb-isquery").has_value();
  const bool of_container = request.target.find("restype=container") != std::string::npos;
  return (request.method == "PUT" || request.method == "POST") && !asks && !of_container;
}

/// Does that to writes of records and lets everything else pass.
StoreGateway::Interference OnWrites(StoreGateway::Interference act) {
  return [act](const ReceivedRequest& request, const StoreGateway::Forward& forward) {
    return IsWrite(request) ? act(request, forward) : StoreGateway::Bytes(forward());
  };
}
StoreGateway::Interference Always(std::string answer) {
  return [answer](const ReceivedRequest&, const StoreGateway::Forward&) { return answer; };
}
const StoreGateway::Interference kLoseReply = [](const ReceivedRequest&,
                                                 const StoreGateway::Forward& forward) {
  forward();
  return std::string(TlsReceiver::kReset);
};

/// "denied: …" and so on, with what else the error says.
struct Failure {
  std::string text{};
  bool unknown = false;
  Milliseconds retry_after{0};
};
Failure FailureOf(const std::function<void()>& act) {
  const auto of = [](const char* kind, const LeaseError& error) {
    return Failure{std::string(kind) + error.what(), error.outcome_unknown(), error.retry_after()};
  };
  try {
    act();
  } catch (const UnfitStore& error) {
    return of("unfit: ", error);
  } catch (const ProviderUnavailable& error) {
    return of("unavailable: ", error);
  } catch (const AccessDenied& error) {
    return of("denied: ", error);
  }
  return {};
}

/// A store, and the gateway in front of it.
class AzureFaults : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!support::HasAzureStores())
      GTEST_SKIP() << "npm ci was not run in tests/node; ./test does it";
  }
  void TearDown() override {
    if (support::HasAzureStores()) gateway().Interfere(nullptr);
  }

  static support::Azurite& Blobs() {
    static support::Azurite azurite;
    return azurite;
  }
  static support::CosmosServer& Documents() {
    static support::CosmosServer server;
    return server;
  }
  static StoreGateway& BlobGateway() {
    static StoreGateway gateway(Blobs().port(), Blobs().tls().authority().pem(),
                                Blobs().tls().authority(), nullptr);
    return gateway;
  }
  bool cosmos() const { return GetParam() == "cosmos"; }
  StoreGateway& gateway() const { return cosmos() ? Documents().gateway() : BlobGateway(); }
  static std::string BlobUrl(const StoreGateway& gateway, const std::string& parameters) {
    return "azblob://tenuretest/faults?endpoint=https://127.0.0.1:" +
           std::to_string(gateway.port()) +
           "/tenuretest&ca_file=" + Blobs().tls().ca_file().string() + "&" + parameters;
  }
  std::string Url(const std::string& more = "") const {
    const std::string parameters = "create=1&clock_skew=0s&min_ttl=100ms" + more;
    return cosmos() ? Documents().Url("faults", parameters) : BlobUrl(gateway(), parameters);
  }
  AzureOptions Who() const {
    return {.connection_string =
                cosmos() ? Documents().ConnectionString() : Blobs().ConnectionString()};
  }
  std::unique_ptr<Provider> OpenStore(const std::string& more = "") const {
    return OpenProvider(Url(more), {.azure = Who()});
  }

  AcquireRequest Asking(Milliseconds ttl = Milliseconds(60'000)) const {
    return {.name = name_, .term = term_, .ttl = ttl, .holder = "h"};
  }
  static RenewOutcome Renew(Connection& connection, const Grant& grant) {
    const RenewRequest request{.name = grant.name, .fence = grant.fence, .term = grant.term};
    return connection.Renew({&request, 1}, kEnough).at(0);
  }

  const std::string name_ = "faults/" + NewTerm();
  const std::string term_ = NewTerm();
};
INSTANTIATE_TEST_SUITE_P(Stores, AzureFaults, testing::Values("blob", "cosmos"),
                         [](const auto& one) { return one.param; });

TEST_P(AzureFaults, AGrantWhoseReplyWasLostIsTheSameGrantWhenAskedAgain) {
  const auto connection = OpenStore()->Connect();
  connection->Get(name_, kEnough);  // makes the container
  gateway().Interfere(OnWrites(kLoseReply));
  const Failure failure = FailureOf([&] { connection->Acquire(Asking(), kEnough); });
  EXPECT_THAT(failure.text, HasSubstr("unavailable: "));
  EXPECT_TRUE(failure.unknown);
  gateway().Interfere(nullptr);
  const std::int64_t fence = connection->Get(name_, kEnough).value().fence;
  EXPECT_EQ(std::get<Grant>(connection->Acquire(Asking(), kEnough)).fence, fence);
}

TEST_P(AzureFaults, D7_ALostReplyOfARenewalIsNoLoss) {
  const auto connection = OpenStore()->Connect();
  const Grant grant = std::get<Grant>(connection->Acquire(Asking(), kEnough));
  for (int i = 0; i < 3; ++i) {
    gateway().Interfere(OnWrites(kLoseReply));
    EXPECT_TRUE(FailureOf([&] { Renew(*connection, grant); }).unknown);
    gateway().Interfere(nullptr);
    // The version that this process knows is gone, by its own doing.
    EXPECT_EQ(std::get<Grant>(Renew(*connection, grant)).fence, grant.fence);
  }
}

TEST_P(AzureFaults, ARenewalThatIsHeldBackPastATakeoverChangesNothing) {
  const auto provider = OpenStore();
  const auto holder = provider->Connect();
  const Grant late = std::get<Grant>(holder->Acquire(Asking(Milliseconds(1'000)), kEnough));
  std::mutex mutex;
  std::condition_variable changed;
  bool is_held = false, may_go = false;
  gateway().Interfere(OnWrites([&](const ReceivedRequest&, const StoreGateway::Forward& forward) {
    std::unique_lock lock(mutex);
    if (!std::exchange(is_held, true)) {
      changed.notify_all();
      changed.wait(lock, [&] { return may_go; });
    }
    lock.unlock();
    return StoreGateway::Bytes(forward());
  }));
  std::optional<RenewOutcome> outcome;
  std::thread renewing([&] { outcome = Renew(*holder, late); });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return is_held; });
  }
  const auto next = provider->Connect();
  const AcquireOutcome taken = next->Acquire(
      {.name = name_, .term = NewTerm(), .ttl = Milliseconds(60'000), .wait = Milliseconds(30'000)},
      kEnough);
  {
    const std::lock_guard lock(mutex);
    may_go = true;
    changed.notify_all();
  }
  renewing.join();
  ASSERT_TRUE(std::holds_alternative<Grant>(taken));
  ASSERT_TRUE(std::holds_alternative<Loss>(*outcome));
  EXPECT_EQ(std::get<Loss>(*outcome).reason, LossReason::kTakenOver);
  EXPECT_TRUE(std::holds_alternative<Grant>(Renew(*next, std::get<Grant>(taken))));
}

TEST_P(AzureFaults, EachTroubleOfTheServiceSaysWhetherSomethingMayHaveHappened) {
  const auto connection = OpenStore()->Connect();
  const Grant grant = std::get<Grant>(connection->Acquire(Asking(), kEnough));
  struct Trouble {
    int status;
    std::string headers;
    bool unknown;
    Milliseconds retry_after;
  };
  const std::vector<Trouble> troubles{
      {429, "Retry-After: 7\r\n", false, Milliseconds(7'000)},
      {429, "x-ms-retry-after-ms: 123\r\n", false, Milliseconds(123)},
      {503, "Retry-After: 2\r\nx-ms-error-code: ServerBusy\r\n", true, Milliseconds(2'000)},
      {500, "x-ms-error-code: InternalError\r\n", true, Milliseconds(0)},
      {408, "", true, Milliseconds(0)},
      {410, "", true, Milliseconds(0)},
      {302, "Location: https://127.0.0.1:1/\r\n", false, Milliseconds(0)},
      {201, "", true, Milliseconds(0)},  // nothing says which version it is
  };
  for (const Trouble& trouble : troubles) {
    gateway().Interfere(OnWrites(Always(TlsReceiver::Http(trouble.status, trouble.headers))));
    const Failure failure = FailureOf([&] { Renew(*connection, grant); });
    EXPECT_THAT(failure.text, HasSubstr("unavailable: ")) << trouble.status;
    EXPECT_EQ(failure.unknown, trouble.unknown) << trouble.status;
    EXPECT_EQ(failure.retry_after, trouble.retry_after) << trouble.status;
  }
  gateway().Interfere(nullptr);
  EXPECT_TRUE(std::holds_alternative<Grant>(Renew(*connection, grant)));
}

TEST_P(AzureFaults, WhatSomebodyElseWroteIsNeverGranted) {
  const auto connection = OpenStore()->Connect();
  connection->Get(name_, kEnough);
  const auto refused = [&](const std::string& text) {
    gateway().Interfere(
        [&, text](const ReceivedRequest& request, const StoreGateway::Forward& forward) {
          if (IsWrite(request)) ADD_FAILURE() << "it is written over";
          auto answer = forward();
          answer.status = 200;
          answer.headers.emplace_back("ETag", "\"1\"");
          answer.headers.emplace_back("Last-Modified", answer.Header("Date"));
          answer.body = cosmos() ? R"({"_etag":"1","_ts":1700000000,"record":)" + text + "}" : text;
          return StoreGateway::Bytes(answer);
        });
    return FailureOf([&] { connection->Acquire(Asking(), kEnough); }).text;
  };
  EXPECT_THAT(refused(R"({"hello":"world"})"), HasSubstr("is not one of ours"));
  EXPECT_THAT(refused(R"({"version":2})"), HasSubstr("a newer one wrote it"));
  EXPECT_THAT(refused("<html>"), HasSubstr("unavailable: "));
  EXPECT_THAT(refused(std::string(17 << 20, ' ')), HasSubstr("unavailable: "))
      << "a reply that never ends";
}

TEST_P(AzureFaults, D6_AClockThatIsAheadStealsNothing) {
  // The clock that judges is ahead of the one that stamped, by as much as the programs were told.
  const auto provider =
      OpenProvider(Url("&poll=50ms").replace(Url().find("clock_skew=0s"), 13, "clock_skew=1s"),
                   {.azure = Who()});
  const auto holder = provider->Connect();
  holder->Get(name_, kEnough);
  const std::int64_t sent_ms = BootClock().NowMs();
  const Grant first = std::get<Grant>(holder->Acquire(Asking(Milliseconds(1'000)), kEnough));
  const auto ahead = [](std::string date) {  // "Thu, 19 Nov 2026 06:00:58 GMT": a second more
    const int seconds = std::stoi(date.substr(23, 2));
    if (seconds < 59) date.replace(23, 2, (seconds < 9 ? "0" : "") + std::to_string(seconds + 1));
    return date;  // at the end of a minute it is right
  };
  gateway().Interfere([&](const ReceivedRequest&, const StoreGateway::Forward& forward) {
    auto answer = forward();
    for (auto& [name, value] : answer.headers)
      if (name == "Date" || name == "date") value = ahead(value);
    return StoreGateway::Bytes(answer);
  });
  const auto taken = provider->Connect()->Acquire(
      {.name = name_, .term = NewTerm(), .ttl = Milliseconds(1'000), .wait = Milliseconds(30'000)},
      kEnough);
  ASSERT_TRUE(std::holds_alternative<Grant>(taken));
  EXPECT_GT(std::get<Grant>(taken).fence, first.fence);
  EXPECT_GE(BootClock().NowMs() - sent_ms, 1'000) << "its holder could still believe in it";
}

TEST_P(AzureFaults, OneRecordThatCannotBeWrittenCostsNoOtherLease) {
  const auto connection = OpenStore()->Connect();
  std::vector<RenewRequest> requests;
  for (const char* end : {"-good", "-bad", "-fine"}) {
    AcquireRequest asked = Asking();
    asked.name += end;
    const auto grant = std::get<Grant>(connection->Acquire(asked, kEnough));
    requests.push_back({.name = asked.name, .fence = grant.fence, .term = grant.term});
  }
  gateway().Interfere(
      OnWrites([](const ReceivedRequest& request, const StoreGateway::Forward& forward) {
        return request.target.ends_with("-bad") ? TlsReceiver::Http(500)
                                                : StoreGateway::Bytes(forward());
      }));
  try {
    connection->Renew(requests, kEnough);
    FAIL() << "one of them failed";
  } catch (const PartlyRenewed& partly) {
    ASSERT_EQ(partly.answers().size(), 3U);
    EXPECT_TRUE(partly.answers()[0].has_value());
    EXPECT_FALSE(partly.answers()[1].has_value());
    EXPECT_TRUE(partly.answers()[2].has_value());
    EXPECT_THAT(partly.what(), HasSubstr("500"));
    EXPECT_THAT(partly.lease(), HasSubstr("-bad"));
  }
}

TEST_P(AzureFaults, ALeaseIsKeptThroughTroublesAsLongAsItsValidityAllows) {
  std::atomic<int> writes = 0;
  std::atomic<int> renewed = 0;
  const auto manager = Open(Url(), {.azure = Who()});
  Lease lease = manager->Acquire(name_, kEnough, {.ttl = Milliseconds(6'000), .renew_at = 0.05},
                                 {.renewed = [&](const Renewed&) {
                                   ++renewed;
                                   renewed.notify_all();
                                 }});
  gateway().Interfere(
      OnWrites([&](const ReceivedRequest& request, const StoreGateway::Forward& forward) {
        switch (writes++ % 6) {
          case 0:
            return kLoseReply(request, forward);
          case 1:
            return TlsReceiver::Http(429, "x-ms-retry-after-ms: 20\r\n");
          case 2:
            return TlsReceiver::Http(503, "x-ms-error-code: ServerBusy\r\n");
          case 3:
            return std::string(TlsReceiver::kReset);
          default:
            return StoreGateway::Bytes(forward());
        }
      }));
  for (int now = renewed; now < 6; now = renewed) renewed.wait(now);
  EXPECT_TRUE(lease.Held());
  EXPECT_EQ(manager->stats().lost, 0);
  EXPECT_GE(manager->stats().renewal_failures, 4);
  gateway().Interfere(nullptr);
  EXPECT_TRUE(lease.Close().released);
}

TEST_P(AzureFaults, ARevokedCredentialIsToldWithTheServicesCodeAndTheLeaseEndsAtItsDeadline) {
  std::mutex mutex;
  std::condition_variable heard;
  std::vector<std::string> told;
  std::vector<std::string> logged;
  const auto tell = [&](const std::string& what) {
    const std::lock_guard lock(mutex);
    told.push_back(what);
    heard.notify_all();
  };
  SetLogHook([&](const LogLine& line) {
    const std::lock_guard lock(mutex);
    std::string text(line.message);
    for (const auto& [name, value] : line.fields) text += " " + value;
    logged.push_back(std::move(text));
  });
  const auto manager = Open(Url(), {.azure = Who(), .on_trouble = tell});
  const std::int64_t before_ms = BootClock().NowMs();
  const Lease lease = manager->Acquire(name_, kEnough, {.ttl = Milliseconds(2'000)},
                                       {.lost = [&](const Lost&) { tell("lost"); }});
  gateway().Interfere(Always(TlsReceiver::Http(403, "x-ms-error-code: AuthorizationFailure\r\n",
                                               R"({"code":"AuthorizationFailure"})")));
  {
    std::unique_lock lock(mutex);
    heard.wait(lock, [&] { return std::ranges::count(told, "lost") > 0; });
  }
  EXPECT_FALSE(lease.Held());
  EXPECT_GE(BootClock().NowMs() - before_ms, 1'800);
  SetLogHook(nullptr);
  const std::lock_guard lock(mutex);
  ASSERT_GE(told.size(), 2U);
  EXPECT_THAT(told.front(), HasSubstr("403 AuthorizationFailure"));
  EXPECT_EQ(std::ranges::count(told, "lost"), 1) << "a renewal may have ended behind it";
  const std::string secret = Who().connection_string;
  const std::string key = secret.substr(secret.find("AccountKey=") + 11);
  EXPECT_THAT(told, Each(Not(HasSubstr(key))));
  EXPECT_THAT(logged, Each(Not(HasSubstr(key))));
}

TEST_P(AzureFaults, NoMoreRequestsAreUnderWayThanAllowed) {
  if (cosmos()) GTEST_SKIP() << "the same code";
  StoreGateway gateway(Blobs().port(), Blobs().tls().authority().pem(), Blobs().tls().authority(),
                       nullptr);
  const auto connection =
      OpenProvider(BlobUrl(gateway, "create=1&min_ttl=100ms&parallel=2"), {.azure = Who()})
          ->Connect();
  std::vector<RenewRequest> requests;
  for (int i = 0; i < 10; ++i) {
    AcquireRequest asked = Asking();
    asked.name += "-" + std::to_string(i);
    const auto grant = std::get<Grant>(connection->Acquire(asked, kEnough));
    requests.push_back({.name = asked.name, .fence = grant.fence, .term = grant.term});
  }
  const std::size_t before = gateway.Received().size();
  EXPECT_EQ(connection->Renew(requests, kEnough).size(), 10U);
  EXPECT_EQ(gateway.Received().size() - before, 10U) << "a renewal is one write and no read";
  EXPECT_LE(gateway.most_at_once(), 2U);
}

// ---- blobs

TEST_P(AzureFaults, WhatTheContainerIsNotFitForIsSaid) {
  if (cosmos()) GTEST_SKIP() << "blobs only";
  const auto connection = OpenStore()->Connect();
  connection->Get(name_, kEnough);
  gateway().Interfere(
      OnWrites(Always(TlsReceiver::Http(409, "x-ms-error-code: BlobImmutableDueToPolicy\r\n"))));
  EXPECT_THAT(FailureOf([&] { connection->Acquire(Asking(), kEnough); }).text,
              AllOf(HasSubstr("unfit: "), HasSubstr("never change")));
  gateway().Interfere(
      OnWrites(Always(TlsReceiver::Http(412, "x-ms-error-code: LeaseIdMissing\r\n"))));
  EXPECT_THAT(FailureOf([&] { connection->Acquire(Asking(), kEnough); }).text,
              AllOf(HasSubstr("unavailable: "), HasSubstr("a lease of the service itself")));
}

// ---- documents

TEST_P(AzureFaults, AWriteThatMovedToAnotherRegionIsAskedForAgain) {
  if (!cosmos()) GTEST_SKIP() << "documents only";
  const auto connection = OpenStore()->Connect();
  const Grant grant = std::get<Grant>(connection->Acquire(Asking(), kEnough));
  for (const auto& [status, headers] : std::vector<std::pair<int, std::string>>{
           {403, "x-ms-substatus: 3\r\n"}, {449, ""}, {404, "x-ms-substatus: 1002\r\n"}}) {
    std::atomic<int> left = 2;
    std::atomic<int> looks = 0;
    gateway().Interfere([&, status = status, headers = headers](
                            const ReceivedRequest& request, const StoreGateway::Forward& forward) {
      if (request.target == "/") ++looks;
      if (request.target != "/" && left-- > 0) return TlsReceiver::Http(status, headers);
      return StoreGateway::Bytes(forward());
    });
    EXPECT_TRUE(std::holds_alternative<Grant>(Renew(*connection, grant))) << status;
    EXPECT_EQ(looks, status == 403 ? 2 : 0);
  }
}

TEST_P(AzureFaults, AnAccountOrContainerThatIsNotFitIsRefusedWhenItIsOpened) {
  if (!cosmos()) GTEST_SKIP() << "documents only";
  OpenStore();
  const auto opened = [&](const std::string& from, const std::string& to) {
    gateway().Interfere([=](const ReceivedRequest&, const StoreGateway::Forward& forward) {
      auto answer = forward();
      if (const std::size_t at = answer.body.find(from); at != std::string::npos)
        answer.body.replace(at, from.size(), to);
      return StoreGateway::Bytes(answer);
    });
    return FailureOf([&] { Open(Url(), {.azure = Who()}); }).text;
  };
  EXPECT_THAT(
      opened(R"("enableMultipleWriteLocations":false)", R"("enableMultipleWriteLocations":true)"),
      AllOf(HasSubstr("unfit: "), HasSubstr("several regions")));
  EXPECT_THAT(opened(R"(["/id"])", R"(["/name"])"),
              AllOf(HasSubstr("unfit: "), HasSubstr("another partition key")));
  EXPECT_THAT(opened(R"("version":2)", R"("version":1)"),
              AllOf(HasSubstr("unfit: "), HasSubstr("101 bytes")));
  EXPECT_THAT(opened(R"("readableLocations":[)", R"("readableLocations":[{"name":"other"},)"),
              AllOf(HasSubstr("unfit: "), HasSubstr("grants that outlive a crash"),
                    HasSubstr("Strong consistency")));
  EXPECT_EQ(opened("no such text", ""), "");
  EXPECT_THAT(Documents().gateway().refused(), testing::IsEmpty()) << "all were signed right";
}

TEST_P(AzureFaults, AWrongKeyIsDenied) {
  const std::string wrong = "c2VjcmV0c2VjcmV0";
  const std::string who = cosmos()
                              ? "AccountEndpoint=" + Documents().endpoint() + ";AccountKey=" + wrong
                              : "AccountName=tenuretest;AccountKey=" + wrong;
  if (cosmos()) {
    support::CosmosServer other;  // with a gateway of its own, which counts the refusal
    EXPECT_THAT(FailureOf([&] {
                  OpenProvider(
                      other.Url("c"),
                      {.azure = {.connection_string = "AccountEndpoint=" + other.endpoint() +
                                                      ";AccountKey=" + wrong}});
                }).text,
                AllOf(HasSubstr("denied: "), HasSubstr("401"), Not(HasSubstr(wrong))));
    return;
  }
  const Failure failure = FailureOf([&] {
    OpenProvider(Url(), {.azure = {.connection_string = who}})->Connect()->Get(name_, kEnough);
  });
  EXPECT_THAT(failure.text, AllOf(HasSubstr("denied: "), Not(HasSubstr(wrong))));
}

}  // namespace
}  // namespace tenure::leases
