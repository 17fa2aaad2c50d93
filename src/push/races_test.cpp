// What only happens where transactions overlap: a process placed between two statements of another
// one. PostgreSQL only.

#include <algorithm>
#include <iterator>

#include <gtest/gtest.h>

#include "push/test_process.hpp"
#include "store/before_step.hpp"
#include "store/tables.hpp"

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

/// The first ten thousand were delivered, by the names of their tenants: one tenant's were all that there were.
TEST_F(PushRaces, OneTenantsSubscriptionsKeepNoOthersFromBeingDelivered) {
  a_.Put("s", "orders");
  const auto tables = store::OpenPostgresTables(store_.url());
  const std::string rest =
      "id, topic, url, max_in_flight, timeout_ms, format, enabled, gone_ms, header_names, secrets, "
      "headers, "
      "revision, created_ms, updated_ms, failures, next_ms, last_status, last_error, last_ms, "
      "delivered, failed";
  tables->Ask("insert into tenure.subscriptions (tenant, name, " + rest +
              ") select 'a', 'n' || i, " + rest +
              " from tenure.subscriptions, generate_series(1, " + std::to_string(kMostDelivered) +
              ") as i");
  std::optional<Surroundings> around;
  a_.subscriptions().LookAround([&](const auto& result) { around = result.value(); });
  a_.Drive();
  ASSERT_TRUE(around);
  EXPECT_EQ(std::ssize(around->subscriptions), kMostDelivered);
  EXPECT_TRUE(std::ranges::any_of(
      around->subscriptions, [](const Sighting& each) { return each.key.tenant == "default"; }));
}

}  // namespace
}  // namespace tenure::push
