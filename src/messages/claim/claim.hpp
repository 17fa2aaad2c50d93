#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"
#include "db/operation.hpp"
#include "messages/message.hpp"
#include "messages/probe.hpp"
#include "messages/rules.hpp"
#include "messages/topics/topic_cache.hpp"

namespace tenure::messages {

/// What a batch of claims learned of topics and owners.
struct ClaimsLearned {
  std::vector<TopicCache::Known> topics{};
  std::vector<TopicCache::Known> used{};  ///< those of which something was found
  std::vector<std::pair<std::pair<std::string, std::string>, TopicCache::Line>> emptied{};
  std::set<std::int64_t> workers{};
  std::vector<std::pair<std::string, std::string>> rescanned{};
  std::int64_t rescan_ms = 0;
};

/// Hands out messages to all claims that wait, in one transaction.
///
/// Why no message is in two hands: it is handed out only by a transaction that has locked its row
/// while it was ready (find_ready.sql), with a fence above every earlier one; whoever changes it
/// afterwards on behalf of a holder names that fence. A row that somebody else has locked is passed
/// over, so claims never wait for each other, nor for a user's transaction.
///
/// A transaction hands out at most about kMaxClaimsBytes; claims behind that are left for the next
/// one.
///
/// Every claim is written down (message_claims) in the same transaction: that is how the reaper
/// finds what a dead worker holds without an index over what is claimed, which every claim would
/// have to pay for (docs/decisions/0009).
class ClaimHandler final : public db::TypedHandler<ClaimRequest, ClaimReply, ClaimsLearned> {
 public:
  ClaimHandler(TopicCache& topic_cache, Probe& probe) : topic_cache_(topic_cache), probe_(probe) {}
  std::string_view name() const override { return "messages.claim"; }
  db::LaneName lane() const override { return kClaimLane; }

 protected:
  ClaimsLearned WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items, const ClaimsLearned& learned) override;

 private:
  friend class ClaimBatch;
  /// Owners without a heartbeat that are not known to be on record.
  bool IsNamed(std::int64_t worker) const;

  TopicCache& topic_cache_;
  Probe& probe_;
  mutable base::Mutex mutex_;
  std::set<std::int64_t> named_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::messages
