#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/store_under_test.hpp"
#include "support/raw_http.hpp"

namespace tenure::chaos {

/// Where the messages of a store are, read past the servers. By id, without its dashes.
struct MessageTables {
  std::map<std::string, std::int64_t> done{};  ///< with the fence under which it was done
  std::map<std::string, std::int64_t> dead{};
};
/// REQUIRES: every topic keeps what is finished.
MessageTables ReadMessages(const api::StoreUnderTest& store);

/// What all who sent and handled messages together were told. Each message carries a token of its
/// sender's own, so that two messages made of one are noticed. Threads may share it.
class MessageWitness {
 public:
  enum class Verdict { kDone, kRetry, kDead };
  struct Claimed {
    std::string id{};
    std::int64_t fence = 0;
    friend auto operator<=>(const Claimed&, const Claimed&) = default;
  };

  /// A 201, or a commit that succeeded.
  void WasAccepted(const std::string& token, const std::string& id);
  /// It was never committed.
  void WasRolledBack(const std::string& token);
  /// Somebody was handed it, under this claim.
  void WasHandedOut(const std::string& token, const Claimed& claimed, const std::string& claim);
  /// Somebody's transaction has dealt with it.
  void HadAnEffect(const std::string& token, const std::string& id);
  /// A report was answered with `answer`: done, stale or gone.
  void WasAnswered(const Claimed& claimed, Verdict verdict, const std::string& answer);

  /// What they were told and the tables do not bear out, in sentences: M1, M2, and principle 3.
  std::vector<std::string> Lies(const MessageTables& tables) const;

  std::size_t Accepted() const;
  /// Accepted ids whose token starts so.
  std::set<std::string> AcceptedWith(const std::string& prefix) const;
  /// Answers of that kind.
  std::int64_t Answers(const std::string& answer) const;
  std::string Summary() const;

 private:
  /// REQUIRES: mutex_ held.
  void Saw(const std::string& token, const std::string& id);

  mutable std::mutex mutex_;                           // guards all below
  std::map<std::string, std::string> accepted_;        // token -> id
  std::set<std::string> rolled_back_;                  // tokens
  std::map<std::string, std::set<std::string>> seen_;  // token -> ids
  std::map<Claimed, std::set<std::string>> claims_;
  std::vector<std::pair<Claimed, Verdict>> carried_out_;
  std::map<std::string, std::int64_t> answers_;
};

/// Handled over HTTP by the load's own consumers, and by worker processes in their transactions.
inline const std::string kPullTopic = "pull";
inline const std::string kWorkTopic = "work";
/// How tokens of messages to these begin.
inline const std::string kPullToken = "pull-";
inline const std::string kWorkToken = "work-";

struct MessageLoadOptions {
  std::vector<int> ports = {};
  std::string database_url = {};  ///< empty: nobody sends by SQL, nor to kWorkTopic
  std::uint64_t seed = 0;
};

/// Producers and consumers that go on whatever breaks, and tell a witness what they were answered.
///
/// Each request is repeated until it is answered, under the same key: an enqueue by its
/// Idempotency-Key, a claim by its id, a report by its fence. Now and then an answer is not waited
/// for at all, as if it had been lost. Consumers acknowledge; some messages they abandon, fail, or
/// leave lying and acknowledge much later, also those that they have abandoned: what comes of that
/// the store decides (M2).
///
/// Fails the test on any answer but 2xx, 503 with Retry-After, and 409 while the first request with
/// a key is under way.
class MessageLoad {
 public:
  MessageLoad(MessageLoadOptions options, MessageWitness& witness);
  ~MessageLoad() { Stop(); }

  /// Returns when that many more messages have ended over HTTP; throws when that takes a minute.
  void WaitForEnds(std::size_t more);
  /// A server was started again.
  void ServersAreBack();
  /// Nothing new from now on, and everything that is claimed is acknowledged. Returns when all that
  /// was begun has been sent.
  void StopSending();
  void Stop();

 private:
  class Caller;
  using Claimed = MessageWitness::Claimed;

  void Guarded(void (MessageLoad::*run)(std::uint64_t), std::uint64_t seed);
  void SendByHttp(std::uint64_t seed);
  void SendBySql(std::uint64_t seed);
  void Consume(std::uint64_t seed);
  void Report(Caller& caller, MessageWitness::Verdict verdict, const std::vector<Claimed>& claims);
  /// Blocks while consumers have plenty to do. False: no more is wanted.
  bool MaySend();
  std::string NewToken(const std::string& prefix);

  const MessageLoadOptions options_;
  MessageWitness& witness_;
  std::atomic<bool> sending_ = true;
  std::atomic<bool> stopping_ = false;
  std::atomic<int> generation_ = 0;  // rises when servers are back, and at the end
  std::atomic<std::int64_t> tokens_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<std::string> ended_;  // ids that were finished or failed; guarded by mutex_
  std::size_t sent_ = 0;         // to kPullTopic; guarded by mutex_
  std::vector<std::jthread> senders_;
  std::vector<std::jthread> consumers_;
};

}  // namespace tenure::chaos
