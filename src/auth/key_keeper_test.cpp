#include "auth/key_keeper.hpp"

#include <fstream>
#include <future>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "auth/signer.hpp"
#include "base/error.hpp"
#include "support/http_receiver.hpp"
#include "support/temp_dir.hpp"

namespace tenure::auth {
namespace {

std::string SetOf(const Signer& signer) { return R"({"keys":[)" + signer.public_jwk() + "]}"; }

class Keeper : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = folder_.path() / name;
    std::ofstream(path) << text;
    return path;
  }
  static std::vector<std::string> Kids(const KeyKeeper& keeper) {
    std::vector<std::string> kids;
    for (const Key& key : keeper.keys()->keys) kids.push_back(key.kid());
    return kids;
  }
  /// Lets the keeper do what is due, with `answer` for the one request that it must send.
  void StepAnswered(KeyKeeper& keeper, int status, const std::string& answer) {
    auto step = std::async(std::launch::async, [&] { keeper.Step(); });
    EXPECT_EQ(issuer_.Next().target, "/keys?a=b");
    issuer_.Answer(status, answer);
    step.get();
  }

  support::TempDir folder_;
  support::HttpReceiver issuer_;
  const std::string url_ = issuer_.Url() + "/keys?a=b";
  base::ManualClock clock_{1'700'000'000'000};
  telemetry::Registry metrics_;
  Probe probe_{metrics_};
  const Signer one_ = Signer::Generate(Algorithm::kEdDsa);
  const Signer two_ = Signer::Generate(Algorithm::kEdDsa);
  using Names = std::vector<std::string>;
};

TEST_F(Keeper, AFileThatChangesIsReadWithinItsInterval) {
  const std::string path = Write("key.json", one_.public_jwk());
  KeyKeeper keeper({.files = {path}}, "", clock_, probe_);
  const auto generation = keeper.keys()->generation;
  Write("key.json", SetOf(two_));
  keeper.Step();
  EXPECT_EQ(Kids(keeper), Names{one_.kid()}) << "not yet";
  clock_.Advance(KeyKeeper::kFilesMs);
  keeper.Step();
  EXPECT_EQ(Kids(keeper), Names{two_.kid()});
  EXPECT_GT(keeper.keys()->generation, generation);
  EXPECT_EQ(metrics_.GetGauge("tenure_auth_keys", "").value(), 1);
  clock_.Advance(KeyKeeper::kFilesMs);
  const auto same = keeper.keys();
  keeper.Step();
  EXPECT_EQ(keeper.keys(), same) << "nothing has changed";
}

TEST_F(Keeper, TwoKeysWithoutANameAreRefusedBecauseNoTokenCouldSayWhichIsItsOwn) {
  const auto nameless = [](const std::string& jwk) {
    return jwk.substr(0, jwk.find(R"(,"kid")")) + "}";
  };
  const std::string one = Write("one.json", nameless(one_.public_jwk()));
  const std::string two = Write("two.json", nameless(two_.public_jwk()));
  KeyKeeper keeper({.files = {one}}, "", clock_, probe_);
  EXPECT_EQ(Kids(keeper), Names{""});
  EXPECT_THROW(KeyKeeper({.files = {one, two}}, "", clock_, probe_), base::UserError);
}

TEST_F(Keeper, AFileThatIsGoneOrWrongChangesNothing) {
  const std::string path = Write("key.json", one_.public_jwk());
  KeyKeeper keeper({.files = {path}}, "", clock_, probe_);
  for (const std::string& text : {std::string(), std::string("{"), one_.private_jwk()}) {
    Write("key.json", text);
    clock_.Advance(KeyKeeper::kFilesMs);
    keeper.Step();
    EXPECT_EQ(Kids(keeper), Names{one_.kid()});
  }
}

TEST_F(Keeper, AReloadUsesOtherFilesAtOnce) {
  KeyKeeper keeper({.files = {Write("one", one_.public_jwk())}}, "", clock_, probe_);
  keeper.Use(
      {.files = {Write("two", two_.public_jwk())}, .secret = config::Secret(std::string(32, 's'))});
  keeper.Step();
  EXPECT_EQ(Kids(keeper), (Names{"", two_.kid()}));
}

TEST_F(Keeper, AWrongFileAtTheStartIsAnErrorThatNamesIt) {
  const std::string path = Write("key.json", one_.private_jwk());
  try {
    KeyKeeper keeper({.files = {path}}, "", clock_, probe_);
    FAIL() << "it was taken";
  } catch (const base::UserError& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
  }
  EXPECT_THROW(KeyKeeper({.secret = config::Secret("short")}, "", clock_, probe_), base::UserError);
}

TEST_F(Keeper, ItIsBlindUntilTheIssuerHasAnswered) {
  KeyKeeper keeper({}, url_, clock_, probe_);
  EXPECT_TRUE(keeper.IsBlind());
  StepAnswered(keeper, 500, "{}");
  EXPECT_TRUE(keeper.IsBlind());
  keeper.Step();  // asks nobody: the pause
  clock_.Advance(KeyKeeper::kPauseMs);
  StepAnswered(keeper, 200, SetOf(one_));
  EXPECT_FALSE(keeper.IsBlind());
  EXPECT_EQ(Kids(keeper), Names{one_.kid()});
}

TEST_F(Keeper, HoweverManyMissesTheIssuerIsAskedOncePerPause) {
  KeyKeeper keeper({}, url_, clock_, probe_);
  StepAnswered(keeper, 200, SetOf(one_));
  for (int i = 0; i < 3; ++i) {
    keeper.Miss();
    keeper.Step();  // would hang here if it asked
    clock_.Advance(KeyKeeper::kPauseMs / 3);
  }
  StepAnswered(keeper, 200, SetOf(two_));
  EXPECT_EQ(Kids(keeper), Names{two_.kid()}) << "the misses were not forgotten in the pause";
  clock_.Advance(KeyKeeper::kPauseMs);
  keeper.Step();  // nobody missed anything since
  clock_.Advance(KeyKeeper::kRefreshMs - KeyKeeper::kPauseMs);
  StepAnswered(keeper, 200, SetOf(one_));
}

TEST_F(Keeper, TheLastKeysStayForADayWhileTheIssuerIsAway) {
  KeyKeeper keeper({}, url_, clock_, probe_);
  StepAnswered(keeper, 200, SetOf(one_));
  clock_.Advance(KeyKeeper::kRefreshMs);
  for (const auto& [status, answer] :
       std::initializer_list<std::pair<int, std::string>>{{503, "{}"},
                                                          {302, "{}"},
                                                          {200, "<html>"},
                                                          {200, R"({"keys":[]})"},
                                                          {200, std::string(300'000, ' ')}}) {
    StepAnswered(keeper, status, answer);
    EXPECT_EQ(Kids(keeper), Names{one_.kid()}) << status;
    clock_.Advance(KeyKeeper::kPauseMs);
  }
  clock_.Advance(KeyKeeper::kKeepMs);
  StepAnswered(keeper, 503, "{}");
  EXPECT_EQ(Kids(keeper), Names{});
  EXPECT_TRUE(keeper.IsBlind());
  clock_.Advance(KeyKeeper::kPauseMs);
  StepAnswered(keeper, 200, SetOf(one_));
  EXPECT_EQ(Kids(keeper), Names{one_.kid()}) << "the same keys as before are news again";
}

TEST_F(Keeper, KeysOfFilesStayBesidesThoseOfTheIssuer) {
  KeyKeeper keeper({.files = {Write("one", one_.public_jwk())}}, url_, clock_, probe_);
  StepAnswered(keeper, 200, SetOf(two_));
  EXPECT_EQ(Kids(keeper), (Names{one_.kid(), two_.kid()}));
}

TEST_F(Keeper, ItsThreadAsksWhileOthersLook) {
  KeyKeeper keeper({}, url_, base::SystemClock(), probe_);
  keeper.Start();
  issuer_.Next();
  issuer_.Answer(200, SetOf(one_));
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      while (keeper.IsBlind()) {
        keeper.Miss();
        std::this_thread::yield();
      }
      EXPECT_EQ(Kids(keeper), Names{one_.kid()});
    });
  for (std::thread& thread : threads) thread.join();
  keeper.Use({.secret = config::Secret(std::string(32, 's'))});
  while (keeper.keys()->keys.size() < 2) std::this_thread::yield();
  keeper.Stop();
}

TEST_F(Keeper, StoppingDoesNotWaitForAnIssuerThatHangs) {
  KeyKeeper keeper({}, url_, base::SystemClock(), probe_);
  keeper.Start();
  issuer_.Next();
  keeper.Stop();
}

}  // namespace
}  // namespace tenure::auth
