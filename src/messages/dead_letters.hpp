#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/method.hpp"
#include "messages/followers.hpp"
#include "messages/message.hpp"
#include "messages/waiting/notifications.hpp"

/// Messages that died: operators look at them, put them back or discard them.
namespace tenure::messages {

struct DeadFilter {
  std::string tenant{};
  std::string topic{};  ///< empty: any
  std::optional<DeathReason> reason{};
  std::vector<base::Uuid> ids{};  ///< empty: any

  std::size_t bytes() const { return db::BytesOf(tenant, topic, ids); }
};
struct DeadLetter {
  base::Uuid id{};
  std::string topic{};
  DeathReason reason = DeathReason::kFailed;
  std::int64_t died_ms = 0;
  std::int64_t enqueued_ms = 0;
  std::int64_t attempts = 0;
  std::int64_t crashes = 0;
  std::string error{};
  std::string correlation_id{};
  std::int64_t payload_bytes = 0;
};
struct DeadRequest {
  DeadFilter filter{};
  std::optional<base::Uuid> after{};
  bool newest_first = false;
  std::int64_t limit = 100;

  std::size_t bytes() const { return filter.bytes(); }
};
using DeadReply = db::Page<DeadLetter>;
db::Transaction::Pending QueueDead(db::Transaction& tx, const DeadRequest& request,
                                   std::int64_t rows);
DeadLetter ReadDeadLetter(const db::Rows::Row& row);

struct DeadChangeRequest {
  enum class Kind { kRedrive, kDiscard };
  Kind kind = Kind::kRedrive;
  DeadFilter filter{};
  std::int64_t limit = 1'000;  ///< of one transaction
  std::int64_t delay_ms = 0;   ///< kRedrive: before the first becomes ready
  std::int64_t rate = 0;       ///< kRedrive: so many a second; 0: all at once
  bool dry_run = false;        ///< only say which

  std::size_t bytes() const { return filter.bytes(); }
};
struct DeadChangeReply {
  DeadChangeRequest::Kind kind = DeadChangeRequest::Kind::kRedrive;
  bool dry_run = false;
  std::vector<base::Uuid> ids{};
  bool has_more = false;
};
/// Puts dead letters back into their lines, with their attempts forgotten, or away for good. A
/// redriven one keeps its id and its fence, and stays on record as such. One that killed its
/// workers stays a suspect.
class DeadChangeHandler final : public NotifyingHandler<DeadChangeRequest, DeadChangeReply> {
 public:
  DeadChangeHandler(std::string_view process, wake::Registry& wake, const FollowerSlot& followers)
      : NotifyingHandler(process, wake), followers_(followers) {}
  std::string_view name() const override { return "messages.dead_change"; }
  db::LaneName lane() const override { return kSettleLane; }

 protected:
  Notifications WriteItems(db::Transaction& tx, Items items) override;

 private:
  const FollowerSlot& followers_;
};

}  // namespace tenure::messages
