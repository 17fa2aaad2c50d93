#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/mutex.hpp"

namespace tenure::db::postgres {

/// How much of PostgreSQL's log this process has seen on disk (docs/ground.md, Incarnation). A log
/// that ends before that has lost something: a base backup or a snapshot was put back.
///
/// Positions of different timelines are not compared: a promoted standby goes on from what it has
/// received, and may rightly lack what its primary had on disk and nobody was told of. That it was
/// promoted shows by the timeline itself. So each connection notes what it sees under the era in
/// which it was opened, and what one of an earlier era sees late counts for nothing.
///
/// Others commit, and note it, while a new connection waits for its server's answer: where the log ended
/// when the server was asked may well be before what was seen when the answer is read. So an answer is
/// compared with what was seen before the question (`Ask`). Taken the other way round, a busy machine
/// raised the incarnation, and froze every name, each time when connections were made anew.
///
/// Threads: any.
class SeenLog {
 public:
  struct Look {
    std::int64_t era = 0;  ///< for Note
    bool behind = false;   ///< there is less than was seen
  };
  struct Mark {
    std::int64_t era = 0;
    std::int64_t flushed = 0;
  };
  /// What was seen so far. Taken before a server is asked where its log ends.
  Mark Ask() const {
    const base::Lock lock(mutex_);
    return {era_, flushed_};
  }
  /// A new connection: where the log of its server ended, which was asked after `asked`. One that is
  /// behind stays so until the incarnation was raised for it.
  Look Open(const Mark& asked, std::string_view timeline, std::int64_t end) {
    const base::Lock lock(mutex_);
    if (timeline_ != timeline) {
      timeline_ = timeline;
      BeginEra();
    }
    return {era_, asked.era == era_ && end < asked.flushed};
  }
  /// The incarnation was raised because the log was behind: what counts is seen from now on.
  std::int64_t Raised() {
    const base::Lock lock(mutex_);
    BeginEra();
    return era_;
  }
  /// A connection of that era has seen so much on disk.
  void Note(std::int64_t era, std::int64_t flushed) {
    const base::Lock lock(mutex_);
    if (era == era_ && flushed > flushed_) flushed_ = flushed;
  }

 private:
  void BeginEra() TENURE_REQUIRES(mutex_) {
    flushed_ = 0;
    ++era_;
  }

  mutable base::Mutex mutex_;
  std::string timeline_ TENURE_GUARDED_BY(mutex_);
  std::int64_t flushed_ TENURE_GUARDED_BY(mutex_) = 0;
  std::int64_t era_ TENURE_GUARDED_BY(mutex_) = 0;
};

}  // namespace tenure::db::postgres
