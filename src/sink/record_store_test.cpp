#include "sink/record_store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "sink_sql/queries.hpp"
#include "store/every_query_runs.hpp"
#include "support/temp_dir.hpp"

namespace tenure::sink {
namespace {

using testing::ElementsAre;

const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

base::Uuid Id(std::uint8_t number) {
  base::Uuid id;
  id.bytes[15] = number;
  return id;
}

Record Of(std::uint8_t session, std::int64_t window, std::int64_t usage) {
  return {.session = Id(session),
          .window = window,
          .user = Id(static_cast<std::uint8_t>(100 + session)),
          .tenant = Id(201),
          .capacity = Id(211),
          .kind = 1,
          .start_ms = window * 60'000,
          .end_ms = window * 60'000 + 60'000,
          .usage = usage};
}

class RecordStoreTest : public testing::Test {
 protected:
  support::TempDir folder_;
  RecordStoreLock lock_{folder_.path()};
  RecordStore store_{folder_.path(), db::Access::kWrite};
};

TEST_F(RecordStoreTest, AppliesEachRecordOnceForEver) {
  const std::vector<Record> first = {Of(1, 1, 10), Of(2, 1, 20)};
  const std::vector<Record> second = {Of(2, 1, 20), Of(2, 2, 5)};
  EXPECT_EQ(store_.Apply(first).applied, 2);
  const Applied again = store_.Apply(second);
  EXPECT_EQ(again.applied, 1);
  EXPECT_EQ(again.duplicate, 1);
  EXPECT_EQ(store_.Apply(second).duplicate, 2);
  EXPECT_EQ(store_.Sum().usage, 35);
  EXPECT_EQ(store_.Sum().records, 3);
  EXPECT_EQ(store_.Count(What::kSession), 2);
  EXPECT_EQ(store_.Records(Id(2), 0, 10), (std::vector<Record>{Of(2, 1, 20), Of(2, 2, 5)}));
  EXPECT_EQ(store_.Records(Id(2), 1, 10), (std::vector<Record>{Of(2, 2, 5)}));
  for (const auto& [what, usage] :
       {std::pair{What::kTenant, 35}, {What::kCapacity, 35}, {What::kSession, 10}})
    EXPECT_EQ(store_.Totals(what, std::nullopt, 10).front().usage, usage);
  EXPECT_EQ(store_.Totals(What::kSession, Id(1), 10).front().usage, 25);
  EXPECT_EQ(store_.Top(What::kUser, 1).front().id, Id(102));
}

TEST_F(RecordStoreTest, AContradictionChangesNothingAndIsRememberedForEver) {
  store_.Apply(std::vector{Of(1, 1, 10)});
  Record other_user = Of(1, 1, 10);
  other_user.user = Id(9);
  for (const Record& wrong : {Of(1, 1, 11), other_user}) {
    const Applied outcome = store_.Apply(std::vector{Of(2, 1, 20), wrong});
    EXPECT_THAT(outcome.conflicts, ElementsAre(RecordId(wrong)));
    EXPECT_EQ(outcome.applied, 0);
  }
  EXPECT_EQ(store_.Sum().usage, 10) << "not even what was right in that request";
  EXPECT_EQ(store_.Conflicts(), 1);
  RecordStore reader(folder_.path(), db::Access::kRead);
  EXPECT_EQ(reader.Conflicts(), 1);
}

TEST_F(RecordStoreTest, ASumThatIsTooLargeIsRefusedRatherThanRounded) {
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max() - 5;
  store_.Apply(std::vector{Of(1, 1, kHuge)});
  EXPECT_THROW(store_.Apply(std::vector{Of(2, 1, 10)}), base::Fault);
  EXPECT_EQ(store_.Sum().usage, kHuge);
  EXPECT_TRUE(store_.Records(Id(2), 0, 10).empty());
  EXPECT_EQ(store_.Apply(std::vector{Of(2, 1, 5)}).applied, 1) << "it goes on";
}

TEST_F(RecordStoreTest, TheFolderBelongsToOneProcess) {
  EXPECT_THROW(RecordStoreLock{folder_.path()}, base::UserError);
}

}  // namespace
}  // namespace tenure::sink
