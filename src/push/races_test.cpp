// What only happens where transactions overlap: a process placed between two statements of another
// one. PostgreSQL only.

#include <gtest/gtest.h>

#include "push/test_process.hpp"
#include "store/before_step.hpp"

namespace tenure::push {
namespace {

class PushRaces : public testing::Test {
 protected:
  const std::vector<const db::Query*> queries_ = QueriesOfPush();
  store::TestStore store_{store::EngineKind::kPostgres, queries_};
  TestProcess a_{store_, "a"};
  TestProcess b_{store_, "b"};
};

/// The process died of it. Whoever puts looks again (routes.cpp).
TEST_F(PushRaces, OneThatIsMadeAndRemovedByOthersMeanwhileIsLookedAtAgain) {
  store::BeforeStep others(a_.store().WriteLane(0), "push.add_subscription", [] {});
  others.Then("push.add_subscription", [&] {
    b_.Put("s", "theirs");
    others.Then("push.lock_subscriptions", [&] { b_.Change(RemoveCommand{{"default", "s"}}); });
  });
  EXPECT_EQ(a_.Put("s", "ours").kind, ChangeKind::kOtherwise);
  EXPECT_EQ(a_.Put("s", "ours").kind, ChangeKind::kCreated);
  EXPECT_EQ(b_.Find("s")->topic, "ours");
}

TEST_F(PushRaces, OneThatOthersMakeMeanwhileIsChanged) {
  const store::BeforeStep others(a_.store().WriteLane(0), "push.add_subscription",
                                 [&] { b_.Put("s", "theirs"); });
  EXPECT_EQ(a_.Put("s", "ours").kind, ChangeKind::kChanged);
  EXPECT_EQ(b_.Find("s")->topic, "ours");
}

}  // namespace
}  // namespace tenure::push
