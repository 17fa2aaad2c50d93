// Which processes there are, on every store.
#include "overview/instances.hpp"

#include <gmock/gmock.h>

#include "overview_sql/queries.hpp"
#include "store/process.hpp"

namespace tenure::overview {
namespace {

using store::EngineKind;

const auto* const every_query_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

class TestProcess final : public store::Process {
 public:
  TestProcess(store::TestStore& test_store, std::string name)
      : Process(test_store),
        name_(std::move(name)),
        beat_(store(), "overview.beat", db::LaneName::Shared(0)) {}
  BeatReply Beat(bool leaves = false) {
    BeatRequest request{.own = {.instance = name_, .version = "1", .workers = true},
                        .leaves = leaves};
    return Await<BeatReply>([&](auto done) { beat_(std::move(request), std::move(done)); });
  }

 private:
  const std::string name_;
  db::Write<BeatInstances> beat_;
};

std::vector<std::string> NamesOf(const BeatReply& reply) {
  std::vector<std::string> names;
  for (const Instance& each : reply.instances) names.push_back(each.instance);
  return names;
}

class Instances : public testing::TestWithParam<EngineKind> {
 protected:
  store::TestStore test_store_{GetParam(), sql::All()};
};
INSTANTIATE_TEST_SUITE_P(Stores, Instances,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres,
                                         EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(Instances, EachProcessKnowsAllOthersUntilTheyWereNotSeenForAnHour) {
  TestProcess a(test_store_, "a");
  EXPECT_THAT(NamesOf(a.Beat()), testing::ElementsAre("a"));
  if (test_store_.is_sqlite()) return;  // there is no other
  TestProcess b(test_store_, "b");
  EXPECT_THAT(NamesOf(b.Beat()), testing::UnorderedElementsAre("a", "b"));
  b.Beat(true);
  const BeatReply seen = a.Beat();
  ASSERT_EQ(seen.instances.size(), 2U);
  for (const Instance& each : seen.instances) {
    EXPECT_EQ(each.left_ms > 0, each.instance == "b");
    EXPECT_TRUE(each.workers);
  }
  test_store_.clock().Advance(kForgottenMs + 1);
  EXPECT_THAT(NamesOf(a.Beat()), testing::ElementsAre("a"));
}

}  // namespace
}  // namespace tenure::overview
