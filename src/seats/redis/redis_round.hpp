#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/caller.hpp"
#include "base/clock.hpp"
#include "base/task.hpp"
#include "seats/beat_path.hpp"
#include "seats/redis/holding_cache.hpp"
#include "seats/redis/redis_probe.hpp"
#include "seats/redis/redis_use.hpp"
#include "seats/redis/task_thread.hpp"
#include "seats/seats.hpp"

namespace tenure::seats {

/// The name of a seat's record.
std::string RecordOf(const base::Uuid& license, std::int64_t slot);

/// What people are shown.
struct RedisStanding {
  RedisEpoch epoch{};
  std::int64_t store_ms = 0;      ///< the store's time when that was read; 0: it was not yet
  std::int64_t authority_ms = 0;  ///< for how long this process may use the Redis
  bool uses = false;              ///< heartbeats of this process go there now
  std::string trouble{};          ///< why they do not, as far as that is known
};

/// What a process does with the Redis besides heartbeats, on a thread and a connection of its own: it finds
/// out whether it may use it, raises the epoch, puts records of what was adopted, drops those of what
/// is over, and asks who is dead.
///
/// The store is never waited for on that thread: what it answers comes as a task.
///
/// Life: construct, Start, Stop. Threads: any.
class RedisRound {
 public:
  struct Options {
    RedisRules rules{};
    std::int64_t timeout_ms = 250;
    std::size_t batch = 500;
    std::string process{};  ///< of the record of who raised an epoch
  };
  RedisRound(Seats& seats, std::unique_ptr<SeatRecords> redis, const Options& options,
             RedisUse& use, HoldingCache& cache, RedisProbe& probe, const base::Clock& clock);

  void Start() { thread_.Start(); }
  void Stop();
  /// As RedisPath's.
  bool RunOne(std::int64_t now_ms) { return thread_.RunOne(now_ms); }

  /// Another Redis answered: the next confirmation comes at once.
  void Hasten() { thread_.Hasten(); }
  /// It did not answer.
  void Lost(const RedisAway& error);

  /// What was adopted, and the Redis's time of before that.
  void Put(const UseNow& use, std::int64_t asked_ms, std::vector<Adopted> adopted);
  /// Holdings of a person: the store says anew how far the Redis may promise them.
  void Adopt(const UseNow& use, std::int64_t asked_ms, const std::string& tenant,
             const std::string& person, std::vector<base::Uuid> sessions);
  void AdoptNow(const std::string& tenant, const std::string& person, const base::Uuid& session);
  void Drop(const base::Uuid& license, std::int64_t slot, std::int64_t fence);
  /// True: it is confirmed.
  void DropNow(const base::Uuid& license, std::int64_t slot, std::int64_t fence,
               base::UniqueFunction<bool> done);
  void GiveOn(const base::Uuid& license, base::UniqueFunction<GivenOn> done);
  void Ask(const base::Uuid& license, std::vector<HoldingPlace> places,
           base::UniqueFunction<std::vector<KnownThere>> done);
  /// A licence's terms did: what was known of its deadlines is nothing any more.
  void Changed(const base::Uuid& license);
  /// An operator raised the epoch.
  void Retired();

  RedisStanding standing() const;

 private:
  struct Search;
  using SearchPtr = std::shared_ptr<Search>;
  struct Record {
    UseNow use{};
    std::int64_t not_after_ms = 0;
    SeatRecords::PutAsked asked{};
  };

  std::int64_t Round();
  void Confirm(std::int64_t asked_ms, const db::Result<EpochSeen>& read);
  std::optional<SeatRecords::Greeting> Greet();
  void NoteLost(const RedisAway& error);
  void Take(const Use& use, const EpochSeen& read);
  void Raise(const Bump& bump);
  void PutSome();
  void DropSome();
  void AskStore(const SearchPtr& search);
  void TakePage(const SearchPtr& search, const db::Result<CandidatesReply>& found);
  bool AskRedis(Search& search, const CandidatesReply& page, Testimony& testimony);
  void Settle(const SearchPtr& search, const TestimonyPtr& testimony);
  void GoOn(const SearchPtr& search);
  void AdoptAbsentOnes(const Search& search, std::vector<CandidatesReply::Seat> absent,
                       std::int64_t asked_ms);
  void Conclude(const SearchPtr& search);
  /// Nothing: it is away, or another one.
  template <class Question>
  auto AskOne(Question ask) -> decltype(ask());
  void Note(const EpochSeen& read, std::string trouble);

  Seats& seats_;
  const Options options_;
  RedisUse& use_;
  HoldingCache& cache_;
  RedisProbe& probe_;
  const base::Clock& clock_;
  const std::unique_ptr<SeatRecords> redis_;

  // Of the thread.
  bool asks_store_ = false;
  std::optional<UseNow> used_;  // when it was confirmed last, to tell of a change
  std::deque<Record> records_;
  std::deque<SeatRecords::Over> over_;
  std::unordered_map<base::Uuid, std::int64_t> not_before_ms_;  // of questions about a licence

  mutable base::Mutex mutex_;
  RedisStanding standing_ TENURE_GUARDED_BY(mutex_);

  TaskThread thread_;  // last: it uses the rest
};

}  // namespace tenure::seats
