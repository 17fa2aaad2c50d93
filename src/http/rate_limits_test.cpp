#include "http/rate_limits.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace tenure::http {
namespace {

class Limiting : public testing::Test {
 protected:
  base::ManualClock clock_{0};
};

TEST_F(Limiting, AKeyHasItsWholeLimitAtOnceAndThenOneAtATime) {
  RateLimiter limiter({10, 60'000}, clock_);
  for (int left = 9; left >= 0; --left) {
    const auto decision = limiter.Take("ada");
    EXPECT_TRUE(decision.allowed);
    EXPECT_EQ(decision.remaining, left);
    EXPECT_EQ(decision.full_in_ms, (10 - left) * 6'000);
  }
  for (int i = 0; i < 3; ++i) {  // what is refused does not count
    const auto decision = limiter.Take("ada");
    EXPECT_FALSE(decision.allowed);
    EXPECT_EQ(decision.remaining, 0);
    EXPECT_EQ(decision.retry_in_ms, 6'000);
    EXPECT_EQ(decision.full_in_ms, 60'000);
  }
  clock_.Advance(5'999);
  EXPECT_EQ(limiter.Take("ada").retry_in_ms, 1);
  clock_.Advance(1);
  EXPECT_TRUE(limiter.Take("ada").allowed);
  EXPECT_FALSE(limiter.Take("ada").allowed);
  clock_.Advance(3'600'000);
  EXPECT_EQ(limiter.Take("ada").remaining, 9) << "never more than the whole limit";
}

TEST_F(Limiting, EachKeyHasItsOwn) {
  RateLimiter limiter({1, 1'000}, clock_);
  for (const char* key : {"ada", "bob", ""}) {
    EXPECT_TRUE(limiter.Take(key).allowed) << key;
    EXPECT_FALSE(limiter.Take(key).allowed) << key;
  }
}

TEST_F(Limiting, InTheLongRunNoMoreThanTheRatePasses) {
  for (const base::Rate rate : {base::Rate{7, 1'000}, base::Rate{10'000, 1'000},
                                base::Rate{1, 3'600'000}, base::Rate{997, 3'600'000}}) {
    RateLimiter limiter(rate, clock_);
    std::int64_t passed = 0;
    const std::int64_t step_ms = std::max<std::int64_t>(rate.per_ms / 50, 1);
    for (int i = 0; i < 100; ++i, clock_.Advance(step_ms))
      for (std::int64_t n = 0; n < rate.count / 10 + 2; ++n)
        if (limiter.Take("ada").allowed) ++passed;
    EXPECT_LE(passed, 3 * rate.count) << base::RateText(rate);
    EXPECT_GE(passed, 2 * rate.count) << base::RateText(rate);
  }
}

TEST_F(Limiting, ManyKeysFitAndMoreThanFitForgetWhoWouldBeBackFirst) {
  RateLimiter limiter({1, 1'000}, clock_);
  const auto passed = [&](int first, int count) {
    int allowed = 0;
    for (int i = first; i < first + count; ++i)
      if (limiter.Take("key " + std::to_string(i)).allowed) ++allowed;
    return allowed;
  };
  // A quarter of what there is room for: hardly any set of eight overflows.
  constexpr int kSome = RateLimiter::kKeys / 4;
  EXPECT_EQ(passed(0, kSome), kSome);
  EXPECT_LE(passed(0, kSome), kSome / 50);
  // A flood of strangers makes it lenient, never larger, and refuses nobody who is new.
  constexpr int kFlood = 4 * RateLimiter::kKeys;
  EXPECT_EQ(passed(1'000'000, kFlood), kFlood);
  clock_.Advance(1'000);
  EXPECT_EQ(passed(0, kSome), kSome) << "and it is over when they have gone";
  EXPECT_LE(passed(0, kSome), kSome / 50);
}

TEST_F(Limiting, ThreadsTogetherGetNoMoreThanOne) {
  RateLimiter limiter({1'000, 1'000}, clock_);
  std::atomic<int> allowed{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int n = 0; n < 1'000; ++n)
        if (limiter.Take("ada").allowed) ++allowed;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allowed, 1'000);
}

std::string KeyOf(std::optional<std::string> tenant, std::string person, std::string address) {
  Request request;
  request.principal = Known({.tenant = std::move(tenant), .person = std::move(person)});
  request.client_address = std::move(address);
  return RateKey(request);
}

TEST(RateKeys, APersonIsOneWhereverTheyAskFrom) {
  EXPECT_EQ(KeyOf("acme", "ada", "192.0.2.1"), KeyOf("acme", "ada", "192.0.2.2"));
  EXPECT_NE(KeyOf("acme", "ada", "192.0.2.1"), KeyOf("acme", "bob", "192.0.2.1"));
  EXPECT_NE(KeyOf("acme", "ada", "192.0.2.1"), KeyOf("other", "ada", "192.0.2.1"));
  EXPECT_NE(KeyOf("ab", "c", ""), KeyOf("a", "bc", ""));
}

TEST(RateKeys, WithoutATokenAnAddressOrANetworkOfIpv6IsOne) {
  EXPECT_NE(KeyOf({}, "", "192.0.2.1"), KeyOf({}, "", "192.0.2.2"));
  EXPECT_EQ(KeyOf({}, "", "2001:db8:0:1::1"), KeyOf({}, "", "2001:db8:0:1:ffff::2"));
  EXPECT_NE(KeyOf({}, "", "2001:db8:0:1::1"), KeyOf({}, "", "2001:db8:0:2::1"));
}

}  // namespace
}  // namespace tenure::http
