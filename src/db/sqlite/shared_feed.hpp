#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.hpp"
#include "db/feed.hpp"
#include "db/sqlite/database.hpp"

namespace tenure::db::sqlite {

/// News of a shared file: a thread that asks SQLite every 20 ms whether anybody else has committed
/// (`PRAGMA data_version`: a look at shared memory, no transaction of ours) and then says `on_gap`;
/// what was committed the file does not tell. Only while somebody is interested: otherwise nothing
/// runs.
///
/// When interest begins it notes the version and says `on_gap` once: what was committed before the
/// note is seen by those who then ask again, what comes later changes the version. So nothing is
/// missed whenever a waiter registers first and lets the feed know second.
///
/// A commit of another connection of this process is news as well. A transaction that changed
/// nothing is none (SharedClock::marks_every_commit): else two waiters that ask in vain would wake
/// each other for ever. Whoever asks again on news must for the same reason not write each time it
/// asks.
class SharedFeed final : public Feed {
 public:
  SharedFeed(std::string path, FeedEvents events);
  ~SharedFeed() override;

  void Start() override;
  void Stop() override;
  bool is_listening() const override { return listening_.load(); }
  void SetInterested(bool interested) override;

 private:
  void Loop();
  /// Sleeps until it is time to look; false when it is to stop.
  bool WaitForNextLook();
  /// The version, when it could be read; opens the file where needed.
  std::optional<std::int64_t> ReadVersion();

  const std::string path_;
  const FeedEvents events_;

  // The thread's.
  DatabasePtr database_;
  StatementPtr statement_;
  std::optional<std::int64_t> seen_;    // the version of the last look; none: everybody must ask
  std::atomic<bool> listening_{false};  // written by the thread

  base::Mutex mutex_;
  std::condition_variable changed_;
  bool interested_ TENURE_GUARDED_BY(mutex_) = false;
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // the owner's
};

}  // namespace tenure::db::sqlite
