// What batches are made of: keys, weights, pages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/idempotency.hpp"
#include "db/keys.hpp"
#include "db/page.hpp"

namespace tenure::db {
namespace {

using testing::ElementsAre;

TEST(UniqueKeys, AreAscendingAndEachOnce) {
  const UniqueKeys<std::string> keys({"b", "a", "c", "a"});
  EXPECT_THAT(std::vector(keys.begin(), keys.end()), ElementsAre("a", "b", "c"));
  EXPECT_EQ(keys.IndexOf("c"), 2u);
  EXPECT_DEATH(keys.IndexOf("d"), "not of this batch");
}

struct Renewal {
  std::string name{};
  std::int64_t fence = 0;
  std::size_t bytes() const { return BytesOf(name); }
};

TEST(Weight, IsWhatARequestCarries) {
  EXPECT_EQ(BytesOf(std::string(1'000, 'x')), 1'000u);
  EXPECT_EQ(BytesOf(std::int64_t{7}, base::Uuid()), 0u) << "nothing besides themselves";
  EXPECT_EQ(BytesOf(std::optional<std::string>("four"), std::optional<std::string>()), 4u);
  const std::vector<Renewal> bulk(1'000, Renewal{std::string(100, 'n')});
  EXPECT_EQ(BytesOf(bulk), 1'000 * (100 + sizeof(Renewal)));
  const std::variant<Renewal, std::vector<Renewal>> command = bulk;
  EXPECT_EQ(BytesOf(command), BytesOf(bulk));
}

TEST(Weight, OfARequestUnderAnIdempotencyKeyIsItsOwnAndTheKeys) {
  const IdempotentRequest<Renewal> once{{std::string(5'000, 'n')}, {"route key", "hash"}};
  EXPECT_EQ(BytesOf(once), 5'000 + 9 + 4u);
}

TEST(Page, HasMoreWhenOneRowTooManyWasFound) {
  Rows rows;
  for (std::int64_t i = 0; i < 3; ++i) {
    rows.BeginRow(0, 1);
    rows.AddInt(i);
  }
  const auto read = [](const Rows::Row& row) { return row.Int(0); };
  const auto cut = TakePage<std::int64_t>(rows, 2, 5, read);
  EXPECT_THAT(cut.rows, ElementsAre(0, 1));
  EXPECT_TRUE(cut.has_more);
  EXPECT_EQ(cut.now_ms, 5);
  const auto whole = TakePage<std::int64_t>(rows, 3, 5, read);
  EXPECT_THAT(whole.rows, ElementsAre(0, 1, 2));
  EXPECT_FALSE(whole.has_more);
}

}  // namespace
}  // namespace tenure::db
