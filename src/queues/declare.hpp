#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "db/operation.hpp"
#include "messages/waiting/notifications.hpp"
#include "queues/queue.hpp"
#include "wake/registry.hpp"

namespace tenure::queues {

/// What the owner of a queue wants it to be. `key_rule` is what makes its keys, in a form that
/// differs when the rule does: a change starts a new generation.
struct Wish {
  QueueSettings settings{};
  std::string key_rule{};
  bool is_removed = false;  ///< it takes no more messages, and hands out what is left
};

enum class Changed { kNothing, kMade, kSettings, kGeneration, kDraining, kResumed };

/// What becomes of a queue when its owner wants it otherwise. `old`: null: there is none.
/// REQUIRES: one that is removed is there.
struct Change {
  QueueRow row{};
  Changed what = Changed::kNothing;
};
Change ChangeOf(const QueueRow* old, const Wish& wish);

struct DeclareRequest {
  std::string tenant{};
  std::string name{};
  Wish wish{};

  std::size_t bytes() const { return db::BytesOf(tenant, name, wish.key_rule); }
};
struct DeclareReply {
  std::optional<QueueRow> queue{};  ///< none: one that is not there was removed
  Changed changed = Changed::kNothing;
};

/// Changes queues, for all processes at once: under the bots lock, which whoever sends or accepts
/// has shared. In the transaction of somebody else: `Declare`.
DeclareReply Declare(db::Transaction& tx, const DeclareRequest& request);

class DeclareHandler final : public messages::NotifyingHandler<DeclareRequest, DeclareReply> {
 public:
  using NotifyingHandler::NotifyingHandler;
  std::string_view name() const override { return "queues.declare"; }
  db::LaneName lane() const override { return db::LaneName::UserKeys(); }

 protected:
  messages::Notifications WriteItems(db::Transaction& tx, Items items) override;
};

struct PauseRequest {
  std::string tenant{};
  std::string name{};
  bool paused = true;
  std::string reason{};

  std::size_t bytes() const { return db::BytesOf(tenant, name, reason); }
};
struct PauseReply {
  std::optional<QueueRow> queue{};
};
class PauseHandler final : public messages::NotifyingHandler<PauseRequest, PauseReply> {
 public:
  using NotifyingHandler::NotifyingHandler;
  std::string_view name() const override { return "queues.pause"; }

 protected:
  messages::Notifications WriteItems(db::Transaction& tx, Items items) override;
};

}  // namespace tenure::queues
