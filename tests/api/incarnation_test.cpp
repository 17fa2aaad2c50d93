// Spec 05, incarnation on the embedded store: it rises when answered commits may be forgotten, and
// only then. (A promoted PostgreSQL standby is in chaos/.)
#include <filesystem>

#include <gtest/gtest.h>

#include "api/api.hpp"
#include "api/program.hpp"
#include "api/store_under_test.hpp"

namespace tenure::api {
namespace {

namespace fs = std::filesystem;

class Incarnation : public testing::Test {
 protected:
  static std::int64_t Of(const support::ServerProcess& server) {
    return Api(server).Get("/health").Json()["store"]["incarnation"].Int();
  }
  /// Starts, writes something, stops; the incarnation it ran in.
  std::int64_t RunOnce() {
    const auto server = store_.Serve();
    EXPECT_EQ(Api(*server).Put(NewKey(), 1).status, 201);
    const std::int64_t incarnation = Of(*server);
    EXPECT_EQ(server->Terminate(), 0);
    return incarnation;
  }
  /// Copies the database and what belongs to it from one folder to another.
  static void CopyDatabase(const fs::path& from, const fs::path& to) {
    for (const char* name : {"tenure.db", "tenure.db-wal", "tenure.db-shm"}) {
      fs::remove(to / name);
      if (fs::exists(from / name)) fs::copy_file(from / name, to / name);
    }
  }

  StoreUnderTest store_{Engine::kSqlite};
};

TEST_F(Incarnation, ARestartDoesNotChangeIt) {
  for (int round = 0; round < 3; ++round) EXPECT_EQ(RunOnce(), 1);
}

TEST_F(Incarnation, AKillDoesNotChangeIt) {
  for (int round = 0; round < 3; ++round) {
    const auto server = store_.Serve();
    EXPECT_EQ(Of(*server), 1);
    for (int i = 0; i < 20; ++i) EXPECT_EQ(Api(*server).Put(NewKey(), 1).status, 201);
    server->Kill();
  }
  EXPECT_EQ(RunOnce(), 1);
}

TEST_F(Incarnation, AnOlderCopyPutBackRaisesItOnce) {
  EXPECT_EQ(RunOnce(), 1);
  const support::TempDir backup;
  CopyDatabase(store_.data_dir(), backup.path());
  EXPECT_EQ(RunOnce(), 1);
  CopyDatabase(backup.path(), store_.data_dir());
  EXPECT_EQ(RunOnce(), 2);
  EXPECT_EQ(RunOnce(), 2) << "once is enough";
}

TEST_F(Incarnation, ACopyOfTheSameMomentIsNoRestore) {
  EXPECT_EQ(RunOnce(), 1);
  const support::TempDir backup;
  CopyDatabase(store_.data_dir(), backup.path());
  CopyDatabase(backup.path(), store_.data_dir());
  EXPECT_EQ(RunOnce(), 1);
}

TEST_F(Incarnation, ACopyThatIsUsedElsewhereRaisesIt) {
  EXPECT_EQ(RunOnce(), 1);
  const support::TempDir elsewhere;
  CopyDatabase(store_.data_dir(), elsewhere.path());
  const support::ServerProcess server({.data_dir = elsewhere.path()});
  EXPECT_EQ(Of(server), 2);
}

TEST_F(Incarnation, ItCanBeRaisedByHand) {
  EXPECT_EQ(RunOnce(), 1);
  const auto result = RunTenure({"admin", "new-incarnation", "--data", store_.data_dir()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(RunOnce(), 2);
}

}  // namespace
}  // namespace tenure::api
