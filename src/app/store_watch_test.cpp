#include "app/store_watch.hpp"

#include <mutex>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/log.hpp"
#include "leases_sql/queries.hpp"
#include "store/before_step.hpp"
#include "store/process.hpp"
#include "tasks_sql/queries.hpp"

namespace tenure::app {
namespace {

using Reading = StoreWatch::Reading;

TEST(StoreWatch, AStepOfTheStoresClockIsWhatNoDelayExplains) {
  const Reading first{1'000'000, 500, 510};
  const auto step_to = [&](std::int64_t store_ms, std::int64_t after_boot_ms = 1'510) {
    const auto step = StoreWatch::StepBetween(first, {store_ms, 1'500, after_boot_ms});
    return step ? step->size_ms() : 0;
  };
  EXPECT_EQ(step_to(1'001'000), 0) << "it went with the machine's";
  EXPECT_EQ(step_to(1'002'020), 0) << "a second, and what the two readings took, is no step";
  EXPECT_EQ(step_to(1'002'021), 1'021);
  EXPECT_EQ(step_to(996'000), -5'000);
  EXPECT_EQ(step_to(1'000'000 + 3'601'000), 3'600'000);
  EXPECT_EQ(step_to(1'009'000, 10'500), 0) << "the answer took nine seconds: nobody can tell";
}

std::vector<const db::Query*> WatchQueries() {
  std::vector<const db::Query*> all;
  for (const auto module : {leases::sql::All(), tasks::sql::All()})
    all.insert(all.end(), module.begin(), module.end());
  return all;
}

/// A watch over PostgreSQL whose clock the test steps.
class WatchedStore : public testing::Test {
 protected:
  WatchedStore() {
    base::SetLogSink([this](base::LogLevel, std::string_view event, std::string_view,
                            std::span<const base::LogField> fields) {
      if (event != "store.clock_step") return;
      std::string line;
      for (const base::LogField& field : fields) line += base::ToText(field) + " ";
      lines_.push_back(line);
    });
    watch_.Start();
    process_.Pass(1'000);
  }
  ~WatchedStore() override {
    watch_.Stop();
    base::SetLogSink({});
  }

  store::TestStore store_{store::EngineKind::kPostgres, WatchQueries()};
  store::Process process_{store_};
  tasks::Tasks tasks_{process_.store(), process_.wake(), "p", store_.clock(), store_.metrics()};
  StoreWatch watch_{process_.store(), tasks_,          process_.wake(), "p",
                    store_.clock(),   store_.metrics()};
  std::vector<std::string> lines_;
};

TEST_F(WatchedStore, AStepOfTheClockIsALineAMetricAndAWarningForAnHour) {
  for (const std::int64_t step_ms : {-5'000, 3'600'000}) {
    lines_.clear();
    store_.clock().StepWall(step_ms);
    process_.Pass(2'000);
    ASSERT_EQ(lines_.size(), 1u) << "once";
    EXPECT_THAT(lines_.front(), testing::HasSubstr(std::to_string(step_ms)));
    EXPECT_THAT(store_.metrics().Text(),
                testing::HasSubstr("store_clock_step_seconds " + std::to_string(step_ms / 1'000)));
    ASSERT_TRUE(watch_.Seen().step);
    EXPECT_EQ(watch_.Seen().step->size_ms(), step_ms);
  }
  store_.clock().Advance(StoreWatch::kStepWarningMs);
  process_.Drive();
  EXPECT_FALSE(watch_.Seen().step);
  EXPECT_EQ(lines_.size(), 1u);
}

TEST_F(WatchedStore, AStepWhileTheStoreHangsIsToldByTheNextLook) {
  lines_.clear();
  bool hung = false;
  const store::BeforeStep slow(process_.store().WriteLane(0), "commit", [&] {
    hung = true;
    store_.clock().Advance(9'000);
    store_.clock().StepWall(5'000);
  });
  process_.Pass(1'000);
  EXPECT_TRUE(hung);
  process_.Pass(2'000);
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_THAT(lines_.front(), testing::HasSubstr("5000"));
}

/// A write on another lane than the watch's own.
class OtherWrite final : public db::TypedHandler<int, int> {
 public:
  std::string_view name() const override { return "test.write"; }
  db::LaneName lane() const override { return db::LaneName::Shared(1); }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override {
    tx.TakeClock(tx.QueueClock());
    for (auto* item : items) item->reply = 0;
  }
};

TEST_F(WatchedStore, AnyCommitShowsThatWritesAreCommittedThoughItsOwnMustWait) {
  EXPECT_TRUE(watch_.Seen().is_writable);
  store_.clock().Advance(StoreWatch::kPatienceMs + 1);
  EXPECT_FALSE(watch_.Seen().is_writable) << "its lane did not come to it";
  OtherWrite handler;
  process_.store().Submit(handler, {}, 0, [](const auto&) {});
  EXPECT_TRUE(process_.store().WriteLane(1).RunOnce());
  EXPECT_TRUE(watch_.Seen().is_writable);
}

TEST_F(WatchedStore, AFenceThatWasNeverGivenIsAWarningForAnHour) {
  process_.store().evidence().Look("lease a", 23, 4);
  ASSERT_TRUE(watch_.Seen().forgotten);
  EXPECT_EQ(watch_.Seen().forgotten->fence, 23);
}

}  // namespace
}  // namespace tenure::app
