#include "usage/recount.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::usage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Delivered = Recount::Delivered;

constexpr std::int64_t kWindowMs = 60'000;
constexpr std::int64_t kBeginMs = 1'000'000 * kWindowMs;  // of window 1

base::Uuid Id(std::uint8_t number) {
  base::Uuid id;
  id.bytes[15] = number;
  return id;
}

Recount::Window WindowOf(std::int64_t number) {
  return {.number = number,
          .start_ms = kBeginMs + (number - 1) * kWindowMs,
          .end_ms = kBeginMs + number * kWindowMs,
          .acknowledged = true};
}

/// One session of kind 1 that began ten seconds into window 1 and goes on. Until the end of window
/// n it has been active 60,000 n - 10,000 ms, which makes 19, 42 and 65 millionths.
class UsageAuditTest : public testing::Test {
 protected:
  UsageAuditTest() {
    for (const std::int64_t number : {3, 2, 1}) audit_.AddWindow(WindowOf(number));
    audit_.AddFactor({.kind = 1, .from_ms = 0, .millionths = 1'000'000});
    audit_.AddSession({.id = Id(1),
                       .user = Id(11),
                       .tenant = Id(12),
                       .capacity = Id(13),
                       .kind = 1,
                       .start_ms = kBeginMs + 10'000,
                       .end_ms = kBeginMs + 10'000 + 30LL * 24 * 60 * kWindowMs});
  }

  static sink::Record RecordOf(std::int64_t window, std::int64_t usage) {
    return {.session = Id(1),
            .window = window,
            .user = Id(11),
            .tenant = Id(12),
            .capacity = Id(13),
            .kind = 1,
            .start_ms = WindowOf(window).start_ms,
            .end_ms = WindowOf(window).end_ms,
            .usage = usage};
  }
  void Add(std::int64_t window, std::int64_t usage, Delivered delivered = Delivered::kYes) {
    audit_.AddRecord(RecordOf(window, usage), delivered);
  }
  void AddAll() {
    Add(3, 23);
    Add(2, 23);
    Add(1, 19);
    audit_.Conclude();
  }

  Recount audit_;
};

TEST_F(UsageAuditTest, FindsNothingWhereNothingIsWrong) {
  AddAll();
  EXPECT_THAT(audit_.differences(), IsEmpty());
  EXPECT_EQ(audit_.micros(), 65);
  EXPECT_EQ(audit_.records(), 3);
}

TEST_F(UsageAuditTest, FloorsOnceOverAllFactors) {
  audit_.AddFactor({.kind = 1, .from_ms = WindowOf(3).start_ms, .millionths = 1'500'000});
  Add(3, 35);  // 42.438 + 34.722 = 77.160; each floored by itself would make 34
  Add(2, 23);
  Add(1, 19);
  audit_.Conclude();
  EXPECT_THAT(audit_.differences(), IsEmpty());
}

TEST_F(UsageAuditTest, AMillionthIsADifference) {
  Add(3, 23);
  Add(2, 24);
  Add(1, 19);
  audit_.Conclude();
  EXPECT_THAT(audit_.differences(),
              ElementsAre(HasSubstr("says 0.000024, its session's active time makes 0.000023"),
                          HasSubstr("add up to 0.000066, its active time makes 0.000065")));
}

TEST_F(UsageAuditTest, AMissingRecordIsADifferenceAlsoWhenItsUsageIsZero) {
  audit_.AddSession({.id = Id(2), .start_ms = kBeginMs, .end_ms = kBeginMs + 1});
  AddAll();
  EXPECT_THAT(audit_.differences(),
              ElementsAre(HasSubstr("was active in 1 windows and has 0 records")));
}

TEST_F(UsageAuditTest, ASessionOfNoLengthHasNoRecord) {
  audit_.AddSession({.id = Id(2), .start_ms = kBeginMs, .end_ms = kBeginMs});
  AddAll();
  EXPECT_THAT(audit_.differences(), IsEmpty());
}

TEST_F(UsageAuditTest, RecordsThatComeTwiceOrBelongToNobodyAreDifferences) {
  Add(3, 23);
  Add(3, 23);
  sink::Record other = RecordOf(2, 23);
  other.session = Id(9);
  audit_.AddRecord(other, Delivered::kYes);
  other = RecordOf(2, 23);
  other.user = Id(9);
  audit_.AddRecord(other, Delivered::kYes);
  EXPECT_THAT(audit_.differences(),
              ElementsAre(HasSubstr("comes twice"), HasSubstr("does not exist"),
                          HasSubstr("does not say what its session says")));
}

TEST_F(UsageAuditTest, WindowsFollowEachOtherWithoutAGap) {
  Recount audit;
  audit.AddWindow(WindowOf(5));
  audit.AddWindow(WindowOf(3));
  EXPECT_THAT(audit.differences(), ElementsAre(HasSubstr("window 5 follows window 3"),
                                               HasSubstr("but window 5 begins at")));
}

TEST_F(UsageAuditTest, OfWindowsWhoseSessionsAreGoneNothingIsAsked) {
  Add(3, 23);
  Add(2, 23);
  audit_.ForgetUpTo(1);
  audit_.Conclude();
  EXPECT_THAT(audit_.differences(), IsEmpty());
  EXPECT_EQ(audit_.first().number, 2);
}

TEST_F(UsageAuditTest, TheReceiverHasWhatItAcknowledgedAndNoMoreThanThereWas) {
  Add(3, 23, Delivered::kPerhaps);
  Add(2, 23);
  Add(1, 19);
  audit_.Conclude();
  for (const std::int64_t received : {42, 65}) {
    Recount audit = audit_;
    audit.AddReceived(Id(1), received);
    audit.ConcludeReceiver(0);
    EXPECT_THAT(audit.differences(), IsEmpty()) << received;
  }
  for (const std::int64_t received : {41, 66}) {
    Recount audit = audit_;
    audit.AddReceived(Id(1), received);
    audit.ConcludeReceiver(0);
    EXPECT_EQ(audit.difference_count(), 1) << received;
  }
  audit_.AddLaterRecord(RecordOf(4, 23));
  audit_.AddReceived(Id(1), 88);
  audit_.ConcludeReceiver(1);
  EXPECT_THAT(audit_.differences(), ElementsAre(HasSubstr("again with other content")));
}

/// 30 days and more of milliseconds times 10^15 need 82 bits.
TEST_F(UsageAuditTest, TheLargestFactorDoesNotOverflow) {
  audit_.AddFactor({.kind = 3, .from_ms = 0, .millionths = 1'000'000'000'000'000});
  audit_.AddSession({.id = Id(3),
                     .kind = 3,
                     .start_ms = kBeginMs - 2'592'000'000,
                     .end_ms = kBeginMs + 3 * kWindowMs});
  for (const std::int64_t window : {3, 2, 1})
    audit_.AddRecord({.session = Id(3),
                      .window = window,
                      .kind = 3,
                      .start_ms = WindowOf(window).start_ms,
                      .end_ms = WindowOf(window).end_ms,
                      .usage = 23'148'148'148},
                     Delivered::kYes);
  AddAll();
  EXPECT_THAT(audit_.differences(), IsEmpty());
}

}  // namespace
}  // namespace tenure::usage
