// Migrations at start: shown without being run, refused when they cannot be right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/program.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

using testing::HasSubstr;

class Migration : public testing::TestWithParam<Engine> {
 protected:
  ProgramResult Run(std::vector<std::string> arguments) {
    const auto flags = store_.Flags();
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return RunTenure(std::move(arguments));
  }
  ProgramResult Serve(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"serve", "--listen", "127.0.0.1:0"});
    return Run(std::move(more));
  }
  std::string Table(const std::string& name) {
    return GetParam() == Engine::kPostgres ? "tenure." + name : name;
  }
  /// Whether the database is as empty as it was made.
  bool IsEmpty() {
    if (GetParam() == Engine::kPostgres)
      return store_.Execute("select count(*) from pg_namespace where nspname = 'tenure'") == "0";
    return !std::filesystem::exists(store_.data_dir() / "tenure.db") ||
           store_.Execute("select count(*) from sqlite_schema") == "0";
  }

  StoreUnderTest store_{GetParam()};
};

TEST_P(Migration, ShowingThemChangesNothing) {
  const auto dry = Run({"migrate", "--dry-run"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("Would apply 0002_sessions"));
  EXPECT_TRUE(IsEmpty());

  const auto print = Run({"migrate", "--print"});
  EXPECT_EQ(print.exit_code, 0) << print.err;
  EXPECT_THAT(print.out, HasSubstr("create table " + Table("sessions")));
  EXPECT_TRUE(IsEmpty());
}

TEST_P(Migration, AppliedOnceTheyAreUpToDate) {
  EXPECT_EQ(Run({"migrate"}).exit_code, 0);
  EXPECT_THAT(Run({"migrate"}).out, HasSubstr("up to date"));
  EXPECT_EQ(Run({"migrate", "--print"}).out, "");
  const auto server = store_.Serve({"--set", "store.migrate=check"});
  EXPECT_EQ(Api(*server).Put(NewKey(), 1).status, 201);
}

TEST_P(Migration, CheckRefusesAnEmptyStore) {
  const auto result = Serve({"--set", "store.migrate=check"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("tenure migrate"));
  EXPECT_TRUE(IsEmpty());
}

TEST_P(Migration, AStoreOfANewerProgramIsRefused) {
  ASSERT_EQ(Run({"migrate"}).exit_code, 0);
  store_.Execute("insert into " + Table("migrations") +
                 " values (9000, '9000_future', 'x', '99.0.0', '2030-01-01 00:00:00+00')");
  for (const auto& result : {Serve(), Run({"migrate"})}) {
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.err, HasSubstr("9000_future"));
    EXPECT_THAT(result.err, HasSubstr("99.0.0"));
  }
}

TEST_P(Migration, ANewerMigrationThatThisProgramCanLiveWithIsAccepted) {
  ASSERT_EQ(Run({"migrate"}).exit_code, 0);
  store_.Execute("insert into " + Table("migrations") +
                 " values (9000, '9000_future', 'x', '0.1.0', '2030-01-01 00:00:00+00')");
  const auto server = store_.Serve();
  EXPECT_EQ(Api(*server).Put(NewKey(), 1).status, 201);
}

TEST_P(Migration, AnEditedMigrationIsRefused) {
  ASSERT_EQ(Run({"migrate"}).exit_code, 0);
  store_.Execute("update " + Table("migrations") + " set checksum = 'edited' where version = 2");
  const auto result = Serve();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("0002_sessions"));
  EXPECT_THAT(result.err, HasSubstr("edited"));
}

TEST_P(Migration, CommandsOnAStoreThatWasNeverSetUpSaySo) {
  const auto result = Run({"admin", "new-incarnation"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("tenure migrate"));
}

INSTANTIATE_TEST_SUITE_P(Engines, Migration, testing::Values(Engine::kSqlite, Engine::kPostgres),
                         EngineName);

}  // namespace
}  // namespace tenure::api
