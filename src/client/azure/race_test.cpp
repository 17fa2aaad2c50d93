// Eight programs race for two names in real stores, with ttls of a second, lost replies, holders that die and holders that
// sleep past their deadlines: no two believe at once, and fences rise. With a rule that forgets that stamps are cut to
// seconds, two do: so the judge sees.

#include <algorithm>
#include <atomic>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "client/azure/blob.hpp"
#include "client/azure/cosmos.hpp"
#include "client/azure/identity.hpp"
#include "support/azure_stores.hpp"
#include "support/long_run.hpp"
#include "tenure/clock.hpp"

namespace tenure::client {
namespace {

using leases::Milliseconds;
using support::ReceivedRequest;
using support::StoreGateway;
using support::TlsReceiver;

constexpr Milliseconds kRaceTtl{1'000};
constexpr Milliseconds kRaceCall{10'000};
constexpr std::size_t kRacers = 8;

/// For how long a program believed that it held a name.
struct Belief {
  std::int64_t fence = 0;
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
};

class LeaseRace {
 public:
  using Open = std::function<std::unique_ptr<leases::Provider>()>;
  explicit LeaseRace(Open open) : open_(std::move(open)) {}

  void Run(std::chrono::seconds time) {
    end_ms_ = BootClock().NowMs() + Milliseconds(time).count();
    std::vector<std::jthread> racers;
    for (std::size_t i = 0; i < kRacers; ++i) racers.emplace_back([this, i] { Race(i); });
  }
  std::size_t grants() const { return count_; }
  /// Two that overlap, or fences that do not rise.
  std::size_t Contradictions() {
    std::size_t found = 0;
    for (auto& [name, beliefs] : beliefs_) {
      std::ranges::sort(beliefs, {}, &Belief::from_ms);
      for (std::size_t i = 1; i < beliefs.size(); ++i)
        if (beliefs[i].from_ms < beliefs[i - 1].until_ms ||
            beliefs[i].fence <= beliefs[i - 1].fence)
          ++found;
    }
    return found;
  }

 private:
  void Race(std::size_t number) {
    const auto provider = open_();
    const auto connection = provider->Connect();
    std::mt19937_64 random(number + 1);
    while (BootClock().NowMs() < end_ms_) {
      const std::string name = fmt::format("race-{}", random() % 2);
      try {
        Hold(*connection, name, random);
      } catch (const leases::ProviderUnavailable&) {  // a reply was lost: nobody believes
      }
    }
  }

  void Hold(leases::Connection& connection, const std::string& name, std::mt19937_64& random) {
    const std::string term = leases::NewTerm();
    std::int64_t sent_ms = BootClock().NowMs();
    const auto outcome =
        connection.Acquire({.name = name, .term = term, .ttl = kRaceTtl}, kRaceCall);
    const auto* const grant = std::get_if<leases::Grant>(&outcome);
    if (!grant) {
      std::this_thread::sleep_for(Milliseconds(20 + random() % 60));
      return;
    }
    Belief belief{grant->fence, BootClock().NowMs(), UntilOf(sent_ms)};
    if (belief.from_ms >= belief.until_ms) return;
    ++count_;
    const auto chance = random() % 100;
    const auto renewals = random() % 3;
    for (std::uint64_t i = 0; i < renewals; ++i) {
      std::this_thread::sleep_for(kRaceTtl / 3);
      sent_ms = BootClock().NowMs();
      if (sent_ms >= belief.until_ms) break;
      const leases::RenewRequest request{.name = name, .fence = belief.fence, .term = term};
      try {
        const auto renewed = connection.Renew({&request, 1}, kRaceCall).front();
        if (!std::holds_alternative<leases::Grant>(renewed)) break;
      } catch (const leases::ProviderUnavailable&) {  // it believes as before
        continue;
      }
      // An answer that comes behind the deadline is ignored.
      if (BootClock().NowMs() < belief.until_ms) belief.until_ms = UntilOf(sent_ms);
    }
    if (chance < 15) return Note(name, belief);  // it dies
    if (chance < 30) {                           // it sleeps, and tries to renew then
      Note(name, belief);
      std::this_thread::sleep_for(kRaceTtl + Milliseconds(random() % 1'500));
      const leases::RenewRequest request{.name = name, .fence = belief.fence, .term = term};
      connection.Renew({&request, 1}, kRaceCall);
      return;
    }
    belief.until_ms = std::min(belief.until_ms, BootClock().NowMs());
    Note(name, belief);
    connection.Release({.name = name, .term = term, .fence = belief.fence}, kRaceCall);
  }
  static std::int64_t UntilOf(std::int64_t sent_ms) { return sent_ms + kRaceTtl.count() * 9 / 10; }
  void Note(const std::string& name, const Belief& belief) {
    const std::lock_guard lock(mutex_);
    beliefs_[name].push_back(belief);
  }

  const Open open_;
  std::int64_t end_ms_ = 0;
  std::atomic<std::size_t> count_ = 0;
  std::mutex mutex_;
  std::map<std::string, std::vector<Belief>> beliefs_;
};

/// One reply in twenty is lost.
StoreGateway::Interference LosesReplies() {
  auto count = std::make_shared<std::atomic<int>>(0);
  return [count](const ReceivedRequest&, const StoreGateway::Forward& forward) {
    const std::string answer = StoreGateway::Bytes(forward());
    return ++*count % 20 == 0 ? std::string(TlsReceiver::kReset) : answer;
  };
}

/// A provider as a url opens it, but for the skew.
std::unique_ptr<leases::Provider> OpenWithSkew(const std::string& url,
                                               const std::string& connection_string,
                                               Milliseconds skew) {
  const leases::ProviderOptions options{.azure = {.connection_string = connection_string}};
  const AzureAddress address = ParseAzureUrl(url, options);
  auto counters = std::make_shared<ProviderCounters>();
  const AzureIdentity who = FindIdentity(address, options.azure, *counters);
  std::unique_ptr<CasStore> store;
  if (address.cosmos)
    store = OpenCosmosStore(address, who, counters).store;
  else
    store = MakeBlobStore(address, who, counters);
  return MakeCasProvider(std::move(store), counters,
                         {.name = "raced", .clock_skew = skew, .min_ttl = Milliseconds(100)});
}

class AzureRace : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!support::HasAzureStoresAndTime()) GTEST_SKIP() << "only in ./test --long";
  }
  /// The stamps of a store of one machine do not differ.
  std::size_t ContradictionsWithSkew(Milliseconds skew, std::chrono::seconds time) {
    const bool cosmos = GetParam() == "cosmos";
    std::optional<support::Azurite> blobs;
    std::optional<support::CosmosServer> documents;
    std::optional<StoreGateway> before_blobs;
    std::string url, who;
    if (cosmos) {
      documents.emplace();
      documents->gateway().Interfere(LosesReplies());
      url = documents->Url("race", "create=1");
      who = documents->ConnectionString();
    } else {
      blobs.emplace();
      before_blobs.emplace(blobs->port(), blobs->tls().authority().pem(), blobs->tls().authority(),
                           nullptr);
      before_blobs->Interfere(LosesReplies());
      url = fmt::format("azblob://{0}/race?create=1&endpoint=https://127.0.0.1:{1}/{0}&ca_file={2}",
                        support::Azurite::kAccount, before_blobs->port(),
                        blobs->tls().ca_file().string());
      who = blobs->ConnectionString();
    }
    LeaseRace race([&] { return OpenWithSkew(url, who, skew); });
    race.Run(time);
    std::cout << race.grants() << " grants, " << race.Contradictions() << " contradictions\n";
    EXPECT_GT(race.grants(), 20U);
    return race.Contradictions();
  }
};
INSTANTIATE_TEST_SUITE_P(Stores, AzureRace, testing::Values("blob", "cosmos"),
                         [](const auto& one) { return one.param; });

TEST_P(AzureRace, L1_L2_NoTwoBelieveAtOnceForAMinute) {
  EXPECT_EQ(ContradictionsWithSkew(Milliseconds(0), std::chrono::seconds(60)), 0U);
}

TEST_P(AzureRace, TheRuleThatForgetsTheCutOfTheStampsIsFound) {
  EXPECT_GT(ContradictionsWithSkew(Milliseconds(-1'000), std::chrono::seconds(30)), 0U);
}

}  // namespace
}  // namespace tenure::client
