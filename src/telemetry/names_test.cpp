#include "telemetry/names.hpp"

#include <gtest/gtest.h>

namespace tenure::telemetry {
namespace {

TEST(Names, OnesThatWerePromisedStayAndOthersHaveThePrefix) {
  EXPECT_TRUE(IsProperName("sessions_active"));
  EXPECT_TRUE(IsProperName("tenure_http_requests_total"));
  EXPECT_FALSE(IsProperName("http_requests_total"));
  EXPECT_FALSE(IsProperName("sessions_active_total"));
  for (const auto name : PromisedNames()) EXPECT_FALSE(name.starts_with(kOwnPrefix)) << name;
}

}  // namespace
}  // namespace tenure::telemetry
