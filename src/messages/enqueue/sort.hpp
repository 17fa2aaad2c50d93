#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "db/operation.hpp"
#include "messages/waiting/notifications.hpp"
#include "wake/registry.hpp"

namespace tenure::messages {

/// Of those with a dedup key so many at a time are named: each may wait a moment.
inline constexpr std::size_t kKeyedAtOnce = 8;

struct SortRequest {
  /// One with a dedup key; none: all without.
  std::optional<std::int64_t> keyed{};
  /// Those with a key that are named in the reply were sent after this one, so that some whose
  /// keys are held do not stand before all others for ever.
  std::int64_t keyed_after = 0;
};
struct SortReply {
  bool has_more = false;
  bool has_locked = false;            ///< another process has some in hand
  std::vector<std::int64_t> keyed{};  ///< some that are to be sorted one by one
};

/// Moves messages to their topics that a user's transaction put aside (PostgreSQL only): a
/// transaction that may stay open for minutes makes no row of a topic, since everybody who sends to
/// it would wait for that row.
///
/// M1: what is moved was committed, and is deleted where it was and inserted where it belongs in
/// one transaction. Two processes that sort at once pass over each other's rows.
///
/// A message with a dedup key is sorted by itself: its key may have to wait for another transaction
/// of a user, and then only this one does. So the lane is that of keys that users chose.
class SortHandler final : public db::TypedHandler<SortRequest, SortReply, Notifications> {
 public:
  SortHandler(std::string_view process, wake::Registry& wake) : process_(process), wake_(wake) {}
  std::string_view name() const override { return "messages.sort"; }
  db::LaneName lane() const override { return db::LaneName::UserKeys(); }
  bool reads() const override { return true; }
  /// Those whose key is held fail by themselves (lane.hpp).
  std::size_t KeyHash(const SortRequest& request) const override {
    return std::hash<std::int64_t>()(request.keyed.value_or(0));
  }

 protected:
  /// Most of the time there is nothing, and nothing is written.
  void ReadItems(db::Transaction& tx, Items items) override;
  Notifications WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items, const Notifications& notifications) override {
    notifications.Signal(wake_);
  }

 private:
  const std::string_view process_;
  wake::Registry& wake_;
};

}  // namespace tenure::messages
