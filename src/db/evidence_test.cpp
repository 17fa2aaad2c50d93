#include "db/evidence.hpp"

#include <gtest/gtest.h>

namespace tenure::db {
namespace {

class Evidence : public testing::Test {
 protected:
  std::int64_t incarnation_ = 1;
  base::ManualClock clock_{1'766'311'200'000};
  telemetry::Registry metrics_;
  ForgottenEvidence evidence_{[this] { return incarnation_; }, clock_, metrics_};
};

TEST_F(Evidence, IsAFenceThatWasNeverGiven) {
  evidence_.Look("lease a", 4, 4);
  EXPECT_FALSE(evidence_.Last());
  evidence_.Look("lease a", 23, 4);
  ASSERT_TRUE(evidence_.Last());
  EXPECT_EQ(evidence_.Last()->what, "lease a");
  EXPECT_EQ(evidence_.Last()->fence, 23);
  EXPECT_EQ(evidence_.Last()->highest, 4);
  EXPECT_NE(metrics_.Text().find("tenure_store_forgotten_evidence_total 1"), std::string::npos);
}

TEST_F(Evidence, OfEarlierIncarnationsIsNoNews) {
  incarnation_ = 2;
  evidence_.Look("lease a", 23, 4);
  EXPECT_FALSE(evidence_.Last());
  evidence_.Look("lease a", FenceFloor(2) + 9, FenceFloor(2) + 8);
  EXPECT_TRUE(evidence_.Last());
}

TEST_F(Evidence, WarnsForAnHour) {
  evidence_.Look("lease a", 2, 1);
  clock_.Advance(ForgottenEvidence::kWarningMs - 1);
  EXPECT_TRUE(evidence_.Last());
  clock_.Advance(1);
  EXPECT_FALSE(evidence_.Last());
}

}  // namespace
}  // namespace tenure::db
