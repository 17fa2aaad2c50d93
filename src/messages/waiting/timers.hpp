#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.hpp"
#include "messages/message.hpp"
#include "messages/probe.hpp"
#include "messages/waiting/notifications.hpp"

/// Messages that wait for their time: promoted when it has come, or cancelled before.
namespace tenure::messages {

struct PromoteRequest {};
struct PromoteReply {
  std::int64_t rows = 0;
  bool has_more = false;
  std::int64_t now_ms = 0;
  std::optional<std::int64_t> next_due_ms{};  ///< of what is not due yet
  bool has_locked = false;                    ///< something is due that somebody has locked
  std::int64_t late_ms = 0;                   ///< the latest of those that were promoted
};

/// Makes messages ready whose time has come: timers, retries.
///
/// M3: a timer is the message, so nothing is moved that could be lost or doubled; one update gives
/// it its place in the line. Two processes that promote at once pass over each other's rows.
class PromoteHandler final : public NotifyingHandler<PromoteRequest, PromoteReply> {
 public:
  PromoteHandler(std::string_view process, wake::Registry& wake, Probe& probe)
      : NotifyingHandler(process, wake), probe_(probe) {}
  std::string_view name() const override { return "messages.promote"; }
  db::LaneName lane() const override { return kSettleLane; }
  bool reads() const override { return true; }

 protected:
  /// Most of the time nothing is due, and nothing is written.
  void ReadItems(db::Transaction& tx, Items items) override;
  Notifications WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items, const Notifications& notifications) override;

 private:
  Probe& probe_;
};

struct CancelRequest {
  std::string tenant{};
  base::Uuid id{};

  std::size_t bytes() const { return tenant.size(); }
};
enum class CancelOutcome { kCancelled, kFired, kUnknown };
struct CancelReply {
  CancelOutcome outcome = CancelOutcome::kUnknown;
};
/// Takes back timers that have not fired. It meets whoever promotes it at the row's lock: one of
/// the two finds that the other was first.
class CancelHandler final : public db::TypedHandler<CancelRequest, CancelReply> {
 public:
  std::string_view name() const override { return "messages.cancel"; }
  db::LaneName lane() const override { return kSettleLane; }
  std::size_t KeyHash(const CancelRequest& cancel) const override {
    return std::hash<base::Uuid>()(cancel.id);
  }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::messages
