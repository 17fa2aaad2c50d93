#include "auth/token_cache.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tenure::auth {
namespace {

constexpr std::int64_t kCachedMs = 1'700'000'000'000;

TokenCache::CachedToken CachedTokenOf(const std::string& tenant) {
  return {.principal = http::Known({.tenant = tenant}),
          .expires_wall_ms = kCachedMs + 600'000,
          .generation = 1};
}

class Cache : public testing::Test {
 protected:
  std::optional<std::string> TenantOf(const std::string& token, std::uint64_t generation = 1) {
    const auto found = cache_.Find(Sha256(token), generation);
    return found ? found->tenant : std::nullopt;
  }

  base::ManualClock clock_{kCachedMs};
  TokenCache cache_{clock_};
};

TEST_F(Cache, WhatWasVerifiedIsKnownForAMinute) {
  cache_.Insert(Sha256("a"), CachedTokenOf("t"));
  EXPECT_EQ(TenantOf("a"), "t");
  EXPECT_EQ(TenantOf("b"), std::nullopt);
  clock_.Advance(TokenCache::kMaxAgeMs - 1);
  EXPECT_EQ(TenantOf("a"), "t");
  clock_.Advance(1);
  EXPECT_EQ(TenantOf("a"), std::nullopt) << "using it does not make it younger";
}

TEST_F(Cache, NothingIsKnownBeyondItsEndAlsoWhenTheCalendarJumps) {
  cache_.Insert(Sha256("a"), CachedTokenOf("t"));
  clock_.StepWall(600'000);
  EXPECT_EQ(TenantOf("a"), std::nullopt);
}

TEST_F(Cache, NothingIsKnownFromBeforeAChangeOfTheKeys) {
  cache_.Insert(Sha256("a"), CachedTokenOf("t"));
  EXPECT_EQ(TenantOf("a", 2), std::nullopt);
}

TEST_F(Cache, ItIsBoundedAndKeepsWhatIsUsed) {
  cache_.Insert(Sha256("used"), CachedTokenOf("t"));
  for (std::size_t i = 0; i < 3 * TokenCache::kMaxEntries; ++i) {
    cache_.Insert(Sha256(std::to_string(i)), CachedTokenOf("other"));
    if (i % 1'000 == 0) {
      ASSERT_EQ(TenantOf("used"), "t") << i;
    }
    ASSERT_LE(cache_.size(), TokenCache::kMaxEntries);
  }
}

TEST_F(Cache, ThreadsShareIt) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int n = 0; n < 2'000; ++n) {
        const std::string token = std::to_string(n % 50);
        const auto found = cache_.Find(Sha256(token), 1);
        EXPECT_TRUE(!found || found->tenant == token);
        cache_.Insert(Sha256(token), CachedTokenOf(token));
        if (i == 0 && n % 500 == 0) clock_.Advance(TokenCache::kMaxAgeMs);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tenure::auth
