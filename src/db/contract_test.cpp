// What every store has besides its capabilities: who it is, the settings that an ensemble shares,
// answers that are kept, and that each of the queries behind it runs on both engines.

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "db/beat.hpp"
#include "db/idempotency.hpp"
#include "db/maintenance.hpp"
#include "db/migrations.hpp"
#include "db_sql/queries.hpp"
#include "store/every_query_runs.hpp"
#include "store/process.hpp"

namespace tenure::db {
namespace {

using store::EngineKind;

[[maybe_unused]] const auto* const every_query_of_stores_runs =
    testing::AddGlobalTestEnvironment(new store::EveryQueryRuns(sql::All()));

/// Answers with the answer that is kept under its key: its own, or an earlier one's. The body
/// "refused" is none to keep.
class AnswerHandler final : public TypedHandler<base::IdempotencyKey, std::string> {
 public:
  std::string_view name() const override { return "test.answer"; }

 protected:
  void WriteItems(Transaction& tx, Items items) override {
    for (auto* item : items) {
      const ClaimedKeys claims = ClaimAnswers(tx, {item->request});
      if (!claims.claimed[0]) {
        item->reply = claims.earlier[0]->answer.body;
        continue;
      }
      item->reply = item->request.body_hash;
      NamedAnswer answer{item->request.name, base::StoredAnswer{200, item->request.body_hash, ""}};
      if (item->request.body_hash == "refused") answer.answer.reset();
      KeepAnswers(tx, {&answer, 1});
    }
  }
};

class StoreContract : public testing::TestWithParam<EngineKind> {
 protected:
  Engine& engine() { return process_.store().engine(); }
  BeatReply Beat() {
    return process_.Await<BeatReply>([&](auto done) {
      process_.store().Submit(beat_, nullptr, BeatRequest{"p"}, std::move(done));
    });
  }
  std::int64_t FrozenUntilMs() {
    return process_
        .Await<FreezeReply>([&](auto done) {
          process_.store().Submit(freeze_, nullptr, FreezeRequest{}, std::move(done));
        })
        .frozen_until_ms;
  }
  std::string Answer(const std::string& name, const std::string& body) {
    return process_.Await<std::string>([&](auto done) {
      process_.store().Submit(answer_, nullptr, base::IdempotencyKey{name, body}, std::move(done));
    });
  }
  std::int64_t Forget() {
    return process_
        .Await<Swept>([&](auto done) {
          process_.store().Submit(forget_, nullptr, ForgetAnswersRequest{}, std::move(done));
        })
        .rows;
  }

  store::TestStore store_{GetParam(), {}};
  store::Process process_{store_};
  BeatHandler beat_;
  FreezeHandler freeze_;
  AnswerHandler answer_;
  ForgetAnswersHandler forget_;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract,
                         testing::Values(EngineKind::kSqlite, EngineKind::kPostgres,
                                         EngineKind::kPooledPostgres),
                         store::EngineName);

TEST_P(StoreContract, AStoreThatHasAllMigrationsGetsNone) {
  EXPECT_TRUE(Migrate(engine()).empty());
}

TEST_P(StoreContract, ANewIncarnationFreezesUntilItIsThawed) {
  EXPECT_EQ(ReadIdentity(engine()).incarnation, 1);
  EXPECT_EQ(Beat().frozen_until_ms, 0);
  EXPECT_EQ(NewIncarnation(engine()), 2);
  EXPECT_EQ(ReadIdentity(engine()).incarnation, 2);
  EXPECT_GT(Beat().frozen_until_ms, store_.clock().WallMs());
  EXPECT_GT(FrozenUntilMs(), store_.clock().WallMs()) << "names that have no row";
  EXPECT_TRUE(Thaw(engine()));
  EXPECT_FALSE(Thaw(engine())) << "nothing is frozen any more";
  EXPECT_EQ(Beat().frozen_until_ms, 0);
  EXPECT_EQ(FrozenUntilMs(), 0);
}

TEST_P(StoreContract, ARoleThatIsNotThereIsGivenNothing) {
  if (GetParam() == EngineKind::kSqlite) GTEST_SKIP() << "SQLite has no roles";
  EXPECT_FALSE(GrantRights(engine(), "nobody_of_that_name").role_exists);
  const Grants grants = GrantRights(engine(), "postgres");
  EXPECT_TRUE(grants.role_exists);
  EXPECT_TRUE(grants.statements.empty()) << "it owns everything";
}

TEST_P(StoreContract, TheFirstProcessSaysWhatAllShareAndApplyChangesIt) {
  AgreeOnSettings(engine(), {{"interval", "1s"}});
  AgreeOnSettings(engine(), {{"interval", "1s"}});
  EXPECT_THROW(AgreeOnSettings(engine(), {{"interval", "2s"}}), base::UserError);
  const SettingChanges changes = ApplySettings(engine(), {{"interval", "2s"}});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].from, "1s");
  AgreeOnSettings(engine(), {{"interval", "2s"}});
  EXPECT_TRUE(ApplySettings(engine(), {{"interval", "2s"}}).empty());
}

TEST_P(StoreContract, AnAnswerIsKeptForADayAndOneThatMayChangeIsNot) {
  EXPECT_EQ(Answer("a", "first"), "first");
  EXPECT_EQ(Answer("a", "second"), "first");
  EXPECT_EQ(Answer("b", "refused"), "refused");
  EXPECT_EQ(Answer("b", "second"), "second") << "the name was given back";
  store_.clock().Advance(kAnswerRetentionMs);
  EXPECT_EQ(Forget(), 0);
  store_.clock().Advance(1);
  EXPECT_EQ(Forget(), 2);
  EXPECT_EQ(Answer("a", "third"), "third");
}

}  // namespace
}  // namespace tenure::db
