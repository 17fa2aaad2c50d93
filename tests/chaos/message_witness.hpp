#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/store_under_test.hpp"

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

}  // namespace tenure::chaos
