// Operations that carry fences, on real stores, with a fence check that is a toy but for its lock:
// a row of the settings, named as the lease, has the live fence as its value.

#include "db/fence_check.hpp"

#include <functional>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/test_store.hpp"

namespace tenure::db {
namespace {

using base::FaultKind;
using base::Fence;
using store::EngineKind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Query kGuardWrite{
    "test.write",
    "insert into tenure.settings (name, value) "
    "select name, value from unnest($1::text[], $2::text[]) as item (name, value)",
    "insert into settings (name, value) values (?1, ?2)"};
const Query kHold{
    "test.hold",
    "select item.ordinal, s.value "
    "from unnest($1::text[], $2::text[]) with ordinality as item (name, value, ordinal) "
    "join tenure.settings s on s.name = item.name and s.value = item.value "
    "for key share of s",
    "select value from settings where name = ?1 and value = ?2"};
const Query* const kGuardQueries[] = {&kGuardWrite, &kHold};

class ToyGuard final : public FenceCheck {
 public:
  std::vector<bool> Check(Transaction& tx, std::span<const Fence> fences) override {
    std::vector<std::string> names;
    std::vector<std::string> values;
    for (const Fence& fence : fences) {
      names.push_back(fence.name);
      values.push_back(std::to_string(fence.fence));
    }
    asked.push_back(names);
    std::vector<bool> live(fences.size(), false);
    const Rows rows = tx.Run(kHold, names, values);
    for (const auto row : rows) live[row.ordinal()] = true;
    return live;
  }
  std::vector<std::vector<std::string>> asked;
};

/// Writes the name; its look decides everything it is shown.
class WriteHandler final : public TypedHandler<std::string, std::string> {
 public:
  explicit WriteHandler(bool looks) : looks_(looks) {}
  std::string_view name() const override { return "test.write"; }
  bool reads() const override { return looks_; }
  std::vector<std::vector<std::string>> written;  // batch by batch
  std::vector<std::string> done;

 protected:
  void ReadItems(Transaction&, Items items) override {
    for (auto* item : items) item->reply = "seen";
  }
  void WriteItems(Transaction& tx, Items items) override {
    std::vector<std::string> names;
    for (auto* item : items) {
      names.push_back(item->request);
      item->reply = "written";
    }
    written.push_back(names);
    tx.Queue(kGuardWrite, names, std::vector<std::string>(names.size(), "1"));
  }
  void DoneItems(Items items) override {
    for (const auto* item : items) done.push_back(item->request);
  }

 private:
  const bool looks_;
};

/// Writes down the steps; at one of them it does something, once.
class Steps final : public StepHook {
 public:
  void Before(std::string_view step) override {
    names.emplace_back(step);
    if (step == at && action) std::exchange(action, nullptr)();
  }
  void After(std::string_view) override {}
  std::vector<std::string> names;
  std::string at;
  std::function<void()> action;
};

class GuardTest : public testing::TestWithParam<EngineKind> {
 public:
  GuardTest() : store_(GetParam(), kGuardQueries) {
    StoreOptions options;
    options.write_lanes = 1;
    process_ = store_.NewProcess(options);
    Write("red", {});
    Write("blue", {});
    Drive();  // both have the live fence 1
    outcomes_.clear();
    order_.clear();
    write_.written.clear();
    write_.done.clear();
    process_->SetFenceCheck(fence_check_);
  }
  ~GuardTest() override { lane().connection().SetHook(nullptr); }

 protected:
  Lane& lane() { return process_->WriteLane(0); }
  void Drive() { store::Drive(*process_); }

  void Write(const std::string& name, std::vector<Fence> fences, WriteHandler* handler = nullptr) {
    lane().Submit(std::make_unique<WriteHandler::ItemType>(
        handler ? *handler : write_, base::Caller(nullptr, std::move(fences)),
        std::hash<std::string>()(name), name, [this, name](Result<std::string> result) {
          order_.push_back(name);
          outcomes_[name] = result.ok() ? result.value() : std::string(result.fault().what());
          if (!result.ok()) faults_.insert(result.fault().kind());
        }));
  }
  bool IsStored(const std::string& name) {
    return store_.Number("select count(*) from settings where name = '" + name + "'",
                         "select count(*) from tenure.settings where name = '" + name + "'") == 1;
  }
  static Fence Live(std::string name) { return {"default", std::move(name), 1}; }
  static Fence Stale(std::string name) { return {"default", std::move(name), 7}; }

  store::TestStore store_;
  std::unique_ptr<Store> process_;
  ToyGuard fence_check_;
  WriteHandler write_{false};
  WriteHandler looking_{true};
  std::map<std::string, std::string> outcomes_;
  std::vector<std::string> order_;
  std::set<FaultKind> faults_;
};

TEST_P(GuardTest, AChangeHappensWhileItsFencesAreLive) {
  Write("a", {Live("red")});
  Write("b", {Live("red"), Live("blue")});
  Drive();
  EXPECT_EQ(outcomes_["a"], "written");
  EXPECT_EQ(outcomes_["b"], "written");
  EXPECT_TRUE(IsStored("b"));
}

TEST_P(GuardTest, AStaleFenceKeepsItsOwnChangeFromHappeningAndNoOther) {
  Write("stale", {Live("red"), Stale("blue")});
  Write("free", {});
  Write("never granted", {Live("green")});
  Write("live", {Live("red")});
  Drive();
  EXPECT_THAT(write_.written, ElementsAre(ElementsAre("free", "live")));
  EXPECT_THAT(write_.done, ElementsAre("free", "live"));
  EXPECT_THAT(order_, ElementsAre("free", "live", "stale", "never granted"));
  EXPECT_EQ(outcomes_["free"], "written");
  EXPECT_EQ(outcomes_["live"], "written");
  EXPECT_THAT(outcomes_["stale"], HasSubstr("fence 7 of lease blue"));
  EXPECT_THAT(outcomes_["never granted"], HasSubstr("fence 1 of lease green"));
  EXPECT_THAT(faults_, ElementsAre(FaultKind::kFenceStale));
  EXPECT_FALSE(IsStored("stale"));
}

TEST_P(GuardTest, ItIsAskedOnceForTheBatchBeforeTheHandlerAndInAscendingOrder) {
  Steps steps;
  lane().connection().SetHook(&steps);
  Write("a", {Live("red"), Live("blue")});
  Write("b", {Stale("red"), Live("blue")});
  Drive();
  EXPECT_THAT(fence_check_.asked, ElementsAre(ElementsAre("blue", "red", "red")));
  EXPECT_THAT(steps.names, ElementsAre("begin", "test.hold", "test.write", "commit"));
}

TEST_P(GuardTest, NobodyIsAskedForChangesWithoutFences) {
  Write("a", {});
  Drive();
  EXPECT_THAT(fence_check_.asked, IsEmpty());
  EXPECT_EQ(outcomes_["a"], "written");
}

TEST_P(GuardTest, WhenAllAreStaleNothingIsCommitted) {
  Steps steps;
  lane().connection().SetHook(&steps);
  Write("a", {Stale("red")});
  Drive();
  EXPECT_THAT(steps.names, ElementsAre("begin", "test.hold"));
  EXPECT_THAT(outcomes_["a"], HasSubstr("not of a live grant"));
  Write("b", {});
  Drive();
  EXPECT_EQ(outcomes_["b"], "written");
}

TEST_P(GuardTest, ALookDoesNotAnswerForAFence) {
  Write("a", {}, &looking_);
  Write("b", {Live("red")}, &looking_);
  Write("c", {Stale("red")}, &looking_);
  Drive();
  EXPECT_EQ(outcomes_["a"], "seen");
  EXPECT_EQ(outcomes_["b"], "written");
  EXPECT_THAT(outcomes_["c"], HasSubstr("not of a live grant"));
}

TEST_P(GuardTest, ABatchThatIsRunAgainIsGuardedAgain) {
  Steps steps;
  steps.at = "test.write";
  steps.action = [] { throw base::Fault(FaultKind::kSerialization, "planted"); };
  lane().connection().SetHook(&steps);
  Write("a", {Live("red")});
  Write("b", {Stale("red")});
  Drive();
  EXPECT_EQ(fence_check_.asked.size(), 2u);
  EXPECT_EQ(outcomes_["a"], "written");
  EXPECT_THAT(order_, ElementsAre("a", "b"));
}

TEST_P(GuardTest, AChangeThatFailsLeavesTheGuardedOnesAlone) {
  Write("red", {Live("blue")});  // the name exists: the store refuses it
  Write("a", {Live("blue")});
  Write("b", {Stale("blue")});
  Drive();
  EXPECT_EQ(outcomes_["a"], "written");
  EXPECT_THAT(outcomes_["b"], HasSubstr("not of a live grant"));
  EXPECT_THAT(faults_, ElementsAre(FaultKind::kStatement, FaultKind::kFenceStale));
}

TEST_P(GuardTest, WithoutAGuardNoFenceIsLive) {
  process_.reset();
  process_ = store_.NewProcess();
  Write("a", {Live("red")});
  Write("b", {});
  Drive();
  EXPECT_THAT(faults_, ElementsAre(FaultKind::kFenceStale));
  EXPECT_EQ(outcomes_["b"], "written");
}

INSTANTIATE_TEST_SUITE_P(Stores, GuardTest,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres),
                         store::EngineName);

class PostgresGuardTest : public GuardTest {};

TEST_P(PostgresGuardTest, ATakeoverIsHeldOffUntilTheGuardedTransactionEnds) {
  auto& postgres = support::SharedPostgres();
  const std::string database = store_.url().substr(store_.url().rfind('/') + 1);
  const auto free_to_take = [&] {
    return postgres.Execute(database,
                            "select count(*) from (select from tenure.settings where name = 'red' "
                            "for update skip locked) as taken");
  };
  std::string while_guarded;
  Steps steps;
  steps.at = "commit";
  steps.action = [&] { while_guarded = free_to_take(); };
  lane().connection().SetHook(&steps);
  Write("a", {Live("red")});
  Drive();
  EXPECT_EQ(outcomes_["a"], "written");
  EXPECT_EQ(while_guarded, "0");
  EXPECT_EQ(free_to_take(), "1");
}

INSTANTIATE_TEST_SUITE_P(Stores, PostgresGuardTest, testing::Values(EngineKind::kPostgres),
                         store::EngineName);

}  // namespace
}  // namespace tenure::db
