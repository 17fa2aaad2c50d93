#include "db/postgres/seen_log.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "db/postgres/engine.hpp"
#include "db_sql/queries.hpp"
#include "store/test_store.hpp"

namespace tenure::db::postgres {
namespace {

/// A connection that is opened while nobody else does anything.
SeenLog::Look OpenAlone(SeenLog& log, std::string_view timeline, std::int64_t end) {
  return log.Open(log.Ask(), timeline, end);
}

TEST(SeenLog, ALogThatEndsBeforeWhatWasSeenIsBehindUntilTheIncarnationWasRaised) {
  SeenLog log;
  const auto first = OpenAlone(log, "00000001", 100);
  EXPECT_FALSE(first.behind);
  log.Note(first.era, 150);
  EXPECT_FALSE(OpenAlone(log, "00000001", 150).behind);
  EXPECT_TRUE(OpenAlone(log, "00000001", 149).behind);
  EXPECT_TRUE(OpenAlone(log, "00000001", 149).behind) << "raising it may have failed";
  log.Note(log.Raised(), 140);
  EXPECT_FALSE(OpenAlone(log, "00000001", 149).behind);
  log.Note(first.era, 900);
  EXPECT_FALSE(OpenAlone(log, "00000001", 149).behind) << "seen before it was put back";
}

TEST(SeenLog, APromotedStandbyMayLackWhatNobodyWasToldOf) {
  SeenLog log;
  log.Note(OpenAlone(log, "00000001", 100).era, 150);
  EXPECT_FALSE(OpenAlone(log, "00000002", 120).behind);
}

TEST(SeenLog, WhatAConnectionToTheOldPrimarySawCountsForNothingOnTheNewOne) {
  SeenLog log;
  const auto old_primary = OpenAlone(log, "00000001", 100);
  const auto promoted = OpenAlone(log, "00000002", 120);
  log.Note(old_primary.era, 900);
  log.Note(promoted.era, 130);
  EXPECT_FALSE(OpenAlone(log, "00000002", 140).behind);
  EXPECT_TRUE(OpenAlone(log, "00000002", 129).behind);
}

TEST(SeenLog, WhatOthersSeeWhileTheServerIsAskedCountsForNothing) {
  SeenLog log;
  const auto first = OpenAlone(log, "00000001", 100);
  const auto asked = log.Ask();
  log.Note(first.era, 900);  // the server has answered 150, and nobody has read it yet
  EXPECT_FALSE(log.Open(asked, "00000001", 150).behind);
  EXPECT_TRUE(OpenAlone(log, "00000001", 150).behind);
}

TEST(SeenLog, WhatWasSeenOfAnotherEraCountsForNothing) {
  SeenLog log;
  log.Note(OpenAlone(log, "00000001", 100).era, 900);
  const auto asked = log.Ask();
  log.Raised();
  EXPECT_FALSE(log.Open(asked, "00000001", 150).behind);
}

/// What one process has seen of incarnations: a primary that was left and is used again, or a copy
/// that is put back once more, has a lower one, and nothing else about it need be odd.
TEST(SeenIncarnation, AStoreThatHasALowerOneIsRaisedAboveItOnceAndFrozen) {
  store::TestStore test_store(store::EngineKind::kPostgres, {});
  const auto one = MakeEngine(test_store.PostgresOptions(), "", test_store.metrics());
  const auto other = MakeEngine(test_store.PostgresOptions(), "", test_store.metrics());
  const auto open = [](Engine& engine) { engine.NewConnection(Access::kWrite)->Open(); };
  const auto put = [&](const std::string& values) {
    one->BeginMaintenance()->Execute("update tenure.store set " + values + "; commit");
  };
  put("incarnation = 5, incarnation_ms = 0");
  open(*one);
  open(*other);
  EXPECT_EQ(one->incarnation(), 5);
  put("incarnation = 2");
  std::vector<std::jthread> openers;
  for (Engine* each : {one.get(), other.get(), one.get(), other.get()})
    openers.emplace_back([&open, each] { open(*each); });
  openers.clear();  // and joined
  open(*one);
  EXPECT_EQ(one->incarnation(), 6) << "both have seen 5, and one of them raises it";
  const auto row = one->BeginMaintenance()->Run(sql::kReadFreeze).at(0);
  EXPECT_NE(row.at(0), "0") << "what the other store did may be forgotten: names are frozen";
}

/// The same on a server. With the answer compared with what is seen when it is read, each of three
/// runs raised the incarnation.
TEST(SeenLog, ConnectionsThatOpenWhileOthersCommitRaiseNothing) {
  store::TestStore test_store(store::EngineKind::kPostgres, {});
  ConnectionOptions options = test_store.PostgresOptions();
  options.test_clock = nullptr;
  const auto engine = MakeEngine(options, "", test_store.metrics());
  std::atomic<bool> done{false};
  const auto write = [&](const std::string& process) {
    const auto connection = engine->NewConnection(Access::kWrite);
    connection->Open();
    while (!done) {
      connection->Begin(Access::kWrite);
      const Param params[] = {std::string_view(process), std::int64_t{1}};
      connection->Send(sql::kBeat, params);
      connection->ReceiveClock(connection->SendClock());
      connection->Commit();
    }
  };
  std::vector<std::jthread> writers;
  for (const char* process : {"a", "b"}) writers.emplace_back(write, process);
  std::vector<std::jthread> openers;
  for (int i = 0; i < 3; ++i)
    openers.emplace_back([&] {
      const auto connection = engine->NewConnection(Access::kWrite);
      for (int j = 0; j < 40; ++j) connection->Open();
    });
  openers.clear();  // and joined
  done = true;
  writers.clear();
  EXPECT_EQ(engine->incarnation(), 1);
}

}  // namespace
}  // namespace tenure::db::postgres
