#include "config/suggest.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace tenure::config {
namespace {

const std::vector<std::string> kWords{"sessions", "store", "log", "listen"};

TEST(Suggest, FindsTheWordThatWasMeant) {
  EXPECT_EQ(Nearest("sesions", kWords), "sessions");
  EXPECT_EQ(Nearest("sessoins", kWords), "sessions") << "swapped letters count once";
  EXPECT_EQ(Nearest("session", kWords), "sessions");
  EXPECT_EQ(Nearest("lgo", kWords), "log");
}

TEST(Suggest, SaysNothingWhenNoWordIsNear) {
  EXPECT_EQ(Nearest("metrics", kWords), std::nullopt);
  EXPECT_EQ(Nearest("x", kWords), std::nullopt);
  EXPECT_EQ(Nearest("", kWords), std::nullopt);
  EXPECT_EQ(Nearest("log", {}), std::nullopt);
  EXPECT_EQ(Nearest(std::string(1'000'000, 'x'), kWords), std::nullopt);
}

TEST(Suggest, TakesTheNearestOfSeveral) {
  const std::vector<std::string> words{"header_timeout", "idle_timeout", "write_timeout"};
  EXPECT_EQ(Nearest("wite_timeout", words), "write_timeout");
}

}  // namespace
}  // namespace tenure::config
