// The feed of PostgreSQL: what is committed arrives, and after every kind of outage it does again.

#include "db/postgres/listener.hpp"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/postgres/engine.hpp"
#include "db/transaction.hpp"
#include "db_sql/queries.hpp"
#include "store/test_store.hpp"

namespace tenure::db::postgres {
namespace {

using store::EngineKind;
using store::TestStore;
using support::PostgresCluster;
using testing::ElementsAre;

/// What a feed told; the tests wait for it, they do not sleep.
class Heard {
 public:
  FeedEvents Events() {
    return {.on_payload = [this](std::string_view payload) { Note(std::string(payload)); },
            .on_gap = [this] { Note("gap"); }};
  }
  /// Waits until so many things were told since the last call, and returns them.
  std::vector<std::string> Take(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return told_.size() >= count; });
    return std::exchange(told_, {});
  }

 private:
  void Note(std::string what) {
    const std::lock_guard lock(mutex_);
    told_.push_back(std::move(what));
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> told_;  // guarded by mutex_
};

ConnectionOptions OptionsOf(const PostgresCluster& cluster) {
  ConnectionOptions options;
  options.url = cluster.Url();
  return options;
}

void Notify(const PostgresCluster& cluster, const std::string& payload) {
  cluster.Execute("postgres", "notify tenure, '" + payload + "'");
}

/// Notifies until something is heard that is no gap: what is committed while nobody listens is
/// lost.
void ExpectNewsAfterGap(const PostgresCluster& cluster, Heard& heard) {
  EXPECT_THAT(heard.Take(1), ElementsAre("gap"));
  Notify(cluster, "news");
  EXPECT_THAT(heard.Take(1), ElementsAre("news"));
}

TEST(Feed, TellsWhatWasCommittedAndNothingElse) {
  TestStore store(EngineKind::kPostgres, {});
  const auto process = store.NewProcess();
  Heard heard;
  const auto feed = process->engine().NewFeed(heard.Events());
  ASSERT_TRUE(feed);
  EXPECT_FALSE(feed->is_listening());
  feed->Start();
  EXPECT_THAT(heard.Take(1), ElementsAre("gap"));
  EXPECT_TRUE(feed->is_listening());

  Connection& connection = process->WriteLane(0).connection();
  const auto notify = [&](const std::vector<std::string>& payloads, bool commit) {
    Transaction tx(connection, Access::kWrite);
    tx.Queue(sql::kNotify, payloads);
    if (commit) tx.Commit();
  };
  notify({"given up"}, false);
  notify({"one", "two", "one"}, true);
  notify({"three"}, true);
  EXPECT_THAT(heard.Take(3), ElementsAre("one", "two", "three"));
  feed->Stop();
  EXPECT_FALSE(feed->is_listening());
}

TEST(Feed, OfAPooledStoreNeedsADirectAddress) {
  TestStore store(EngineKind::kPooledPostgres, {});
  EXPECT_FALSE(store.NewEngine()->NewFeed({}));
  EXPECT_TRUE(MakeEngine(store.PostgresOptions(), store.url(), store.metrics())->NewFeed({}));
}

TEST(Feed, OfTheEmbeddedStoreDoesNotExist) {
  TestStore store(EngineKind::kSqlite, {});
  EXPECT_FALSE(store.NewEngine()->NewFeed({}));
}

TEST(Listener, ListensAgainAfterItsBackendWasKilled) {
  PostgresCluster cluster;
  Heard heard;
  Listener listener(OptionsOf(cluster), kChannel, heard.Events());
  listener.Start();
  ExpectNewsAfterGap(cluster, heard);
  EXPECT_EQ(cluster.KillAllBackends(), 1);
  ExpectNewsAfterGap(cluster, heard);
  EXPECT_TRUE(listener.is_listening());
}

TEST(Listener, ListensAgainAfterPostgresWasRestartedAndStopsWhileItIsDown) {
  PostgresCluster cluster;
  Heard heard;
  Listener listener(OptionsOf(cluster), kChannel, heard.Events());
  listener.Start();
  ExpectNewsAfterGap(cluster, heard);
  for (const auto mode :
       {PostgresCluster::StopMode::kFast, PostgresCluster::StopMode::kImmediate}) {
    cluster.Stop(mode);
    while (listener.is_listening()) std::this_thread::yield();
    cluster.Start();
    ExpectNewsAfterGap(cluster, heard);
  }
  cluster.Stop(PostgresCluster::StopMode::kFast);
  while (listener.is_listening()) std::this_thread::yield();
  listener.Stop();
}

TEST(Listener, TakesAPeerThatSaysNothingForDead) {
  PostgresCluster cluster;
  Heard heard;
  Listener listener(OptionsOf(cluster), kChannel, heard.Events(),
                    {.silence_ms = 20, .answer_ms = 1'000});
  listener.Start();
  ExpectNewsAfterGap(cluster, heard);
  // As a machine that lost its power: the connection stands, and nobody is there.
  const auto backend = static_cast<pid_t>(std::stol(
      cluster.Execute("postgres",
                      "select pid from pg_stat_activity where backend_type = 'client backend' "
                      "and pid <> pg_backend_pid()")));
  ASSERT_EQ(kill(backend, SIGSTOP), 0);
  EXPECT_THAT(heard.Take(1), ElementsAre("gap"));
  kill(backend, SIGCONT);
  Notify(cluster, "news");
  EXPECT_THAT(heard.Take(1), ElementsAre("news"));
}

TEST(Listener, StopsWhileItWaitsForAServerThatNeverAnswers) {
  const int silent = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(silent, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(silent, 1), 0);
  ASSERT_EQ(getsockname(silent, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ConnectionOptions options;
  options.url = "postgresql://postgres@127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/x";
  Heard heard;
  Listener listener(options, kChannel, heard.Events());
  listener.Start();
  const int peer = accept(silent, nullptr, nullptr);
  char byte = 0;
  EXPECT_EQ(read(peer, &byte, 1), 1) << "it has begun to talk";
  listener.Stop();
  EXPECT_FALSE(listener.is_listening());
  close(peer);
  close(silent);
}

}  // namespace
}  // namespace tenure::db::postgres
