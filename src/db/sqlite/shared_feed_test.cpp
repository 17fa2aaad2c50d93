// News of a shared file: everybody asks again when somebody committed, and only then.

#include "db/sqlite/shared_feed.hpp"

#include <semaphore>
#include <thread>

#include <gtest/gtest.h>

#include "db/transaction.hpp"
#include "store/test_store.hpp"

namespace tenure::db::sqlite {
namespace {

const Query kFeedWrite{"test.write", "",
                       "insert into settings (name, value) values (?1, '') "
                       "on conflict (name) do update set value = value || 'x'"};

class SharedFeedTest : public testing::Test {
 protected:
  SharedFeedTest() {
    feed_ = process_->engine().NewFeed({.on_gap = [this] { gaps_.release(); }});
    feed_->Start();
  }
  void Write(bool change = true) {
    store_.clock().Advance(1);
    Transaction tx(other_->WriteLane(0).connection(), Access::kWrite);
    tx.TakeClock(tx.QueueClock());
    if (change) tx.Run(kFeedWrite, std::string_view("a"));
    tx.Commit();
  }

  store::TestStore store_{store::EngineKind::kSharedSqlite, {}};
  std::unique_ptr<Store> process_ = store_.NewProcess();
  std::unique_ptr<Store> other_ = store_.NewProcess();
  std::counting_semaphore<> gaps_{0};
  std::unique_ptr<Feed> feed_;  // dies first
};

TEST_F(SharedFeedTest, SaysOnceThatItBeganAndThenWhatOthersCommit) {
  EXPECT_FALSE(feed_->is_listening());
  feed_->SetInterested(true);
  gaps_.acquire();
  EXPECT_TRUE(feed_->is_listening());
  for (int i = 0; i < 3; ++i) {
    Write();
    gaps_.acquire();
  }
  feed_->SetInterested(false);
  while (feed_->is_listening()) std::this_thread::yield();
  Write();
  feed_->SetInterested(true);
  gaps_.acquire();
}

TEST_F(SharedFeedTest, HearsNothingOfATransactionThatChangedNothing) {
  feed_->SetInterested(true);
  gaps_.acquire();
  const DatabasePtr look = OpenDatabase(store_.file().string(), Access::kRead, Sharing::kShared);
  const auto version = [&] {
    std::string_view text = "PRAGMA data_version";
    const StatementPtr statement = Prepare(*look, text);
    EXPECT_EQ(sqlite3_step(statement.get()), SQLITE_ROW);
    return sqlite3_column_int64(statement.get(), 0);
  };
  const auto before = version();
  Write(false);
  EXPECT_EQ(version(), before);
  Write(true);
  EXPECT_NE(version(), before);
  gaps_.acquire();
}

TEST_F(SharedFeedTest, StopsAlsoWhileNobodyIsInterested) {
  feed_->Stop();
  EXPECT_FALSE(feed_->is_listening());
  Write();
}

}  // namespace
}  // namespace tenure::db::sqlite
