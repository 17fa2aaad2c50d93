#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "db/method.hpp"
#include "messages/message.hpp"

namespace tenure::messages {

/// Dead letters that died alike: of one topic, of one reason, with the same first line of their error.
struct DeadGroup {
  std::string topic{};
  DeathReason reason = DeathReason::kFailed;
  std::string error{};
  std::int64_t count = 0;
  std::int64_t first_ms = 0;
  std::int64_t last_ms = 0;
  base::Uuid id{};  ///< one of them
};
/// So many letters are looked at, those with the highest ids.
inline constexpr std::int64_t kMaxGrouped = 10'000;

struct GroupsRequest {
  std::string tenant{};
  std::string topic{};  ///< empty: any

  std::size_t bytes() const { return db::BytesOf(tenant, topic); }
};
struct GroupsReply {
  std::vector<DeadGroup> groups{};  ///< the largest first, at most 100
  bool capped = false;              ///< there may be more letters
};
void GroupDeadLetters(db::Transaction& tx, db::Items<GroupsRequest, GroupsReply> items);

}  // namespace tenure::messages
