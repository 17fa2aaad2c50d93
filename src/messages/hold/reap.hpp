#pragma once

#include <cstdint>
#include <string_view>

#include "messages/followers.hpp"
#include "messages/message.hpp"
#include "messages/probe.hpp"
#include "messages/waiting/notifications.hpp"

namespace tenure::messages {

struct ReapRequest {
  /// False: only what workers with a heartbeat left is taken back. Claims without one ended while
  /// nobody could prolong them: the store was away, or nobody served.
  bool leases = true;
};
struct ReapReply {
  std::int64_t returned = 0;  ///< messages that are ready again, nothing counted
  std::int64_t crashed = 0;   ///< ready again, with one crash more
  std::int64_t dead = 0;      ///< crashes spent
  bool has_more = false;
};

/// Takes back what was claimed and is not held any more.
///
/// Who holds: a worker with a heartbeat holds everything that it claimed for as long as its row is
/// there and was not given up for dead; anybody else holds each message until its lease_until_ms.
/// A worker is given up under the lock of its row, which its heartbeat needs too: either the
/// heartbeat comes first and it lives, or it is told that it was given up.
///
/// Revocation is the moment of the commit: until then the old holder may still finish the message
/// (nobody else has it), afterwards its fence matches nothing (M2).
///
/// Lock order: workers, claims, messages; all SKIP LOCKED, so it waits for nobody. What it could
/// not lock it looks at again a second later.
class ReapHandler final : public NotifyingHandler<ReapRequest, ReapReply> {
 public:
  ReapHandler(std::string_view process, wake::Registry& wake, const FollowerSlot& followers,
              Probe& probe)
      : NotifyingHandler(process, wake), followers_(followers), probe_(probe) {}
  std::string_view name() const override { return "messages.reap"; }
  db::LaneName lane() const override { return kSettleLane; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
  Notifications WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items, const Notifications& notifications) override;

 private:
  const FollowerSlot& followers_;
  Probe& probe_;
};

}  // namespace tenure::messages
