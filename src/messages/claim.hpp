#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/operation.hpp"
#include "messages/directory.hpp"
#include "messages/message.hpp"
#include "messages/probe.hpp"
#include "messages/rules.hpp"

namespace tenure::messages {

/// What one claim row stands for: the messages that were handed out together. 24 bytes each.
struct Handed {
  base::Uuid id{};
  std::int64_t fence = 0;
};
std::string EncodeHanded(const std::vector<Handed>& messages);
std::vector<Handed> DecodeHanded(std::string_view bytes);

/// The number under which somebody without a heartbeat is on record.
std::int64_t WorkerOf(std::string_view tenant, std::string_view owner);

/// A claim's answer, and what the batch learned; the latter with the first of the batch.
struct ClaimResult {
  ClaimReply reply;
  struct Learned {
    std::vector<Directory::Known> topics{};
    std::vector<Directory::Known> used{};  ///< those of which something was found
    std::vector<std::pair<std::pair<std::string, std::string>, Directory::Line>> emptied{};
    std::set<std::int64_t> workers{};
    std::vector<std::pair<std::string, std::string>> rescanned{};
    std::int64_t rescan_ms = 0;
  } learned{};
};

/// Hands out messages to all claims that wait, in one transaction.
///
/// Why no message is in two hands: it is handed out only by a transaction that has locked its row
/// while it was ready (find_ready.sql), with a fence above every earlier one; whoever changes it
/// afterwards on behalf of a holder names that fence. A row that somebody else has locked is passed
/// over, so claims never wait for each other, nor for a user's transaction.
///
/// Every claim is written down (message_claims) in the same transaction: that is how the reaper
/// finds what a dead worker holds without an index over what is claimed, which every claim would
/// have to pay for (docs/decisions/0009).
class ClaimHandler final : public db::TypedHandler<ClaimRequest, ClaimResult> {
 public:
  ClaimHandler(Directory& directory, Probe& probe) : directory_(directory), probe_(probe) {}
  std::string_view name() const override { return "messages.claim"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  friend class ClaimBatch;
  /// Owners without a heartbeat that are not known to be on record.
  bool IsNamed(std::int64_t worker) const;

  Directory& directory_;
  Probe& probe_;
  mutable std::mutex mutex_;
  std::set<std::int64_t> named_;  // guarded by mutex_
};

}  // namespace tenure::messages
