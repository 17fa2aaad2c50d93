#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/method.hpp"
#include "webhooks/delivery.hpp"
#include "webhooks/snapshot.hpp"

namespace tenure::webhooks {

struct ListRequest {
  std::string tenant{};
  std::int64_t below = std::numeric_limits<std::int64_t>::max();  ///< the number of the page before
  std::string delivery_id{};
  std::optional<base::Uuid> correlation_id{};
  std::string event{};
  std::string action{};
  std::string repository{};
  std::string entity_type{};
  std::string entity_id{};
  std::int64_t since_ms = 0;
  std::int64_t until_ms = std::numeric_limits<std::int64_t>::max();
  std::int64_t limit = 50;

  std::size_t bytes() const {
    return db::BytesOf(tenant, delivery_id, event, action, repository, entity_type, entity_id);
  }
};
db::Transaction::Pending QueueEvents(db::Transaction& tx, const ListRequest& request,
                                     std::int64_t rows);
EventRow ReadEvent(const db::Rows::Row& row);

struct FindRequest {
  std::string tenant{};
  base::Uuid event_id{};
  bool as_json = false;  ///< of a form its payload, as consumers want it; else byte for byte

  std::size_t bytes() const { return db::BytesOf(tenant); }
};
/// One of the messages that an event became.
struct Way {
  enum class State { kWaiting, kHeld, kDead, kDone, kParked };

  std::string bot{};
  base::Uuid message_id{};
  State state = State::kWaiting;
  // Of a session; a message of a topic has none.
  std::string key{};
  std::string name{};
  std::optional<base::Uuid> session{};
  std::int64_t sequence = 0;
  std::string copy{};
  bool is_replay = false;
};
std::string_view ToText(Way::State state);

struct FindReply {
  std::optional<EventRow> event{};
  std::vector<Way> ways{};  ///< at most kMaxWays
};
inline constexpr std::int64_t kMaxWays = 1'000;
void FindEvents(db::Transaction& tx, db::Items<FindRequest, FindReply> items);

struct PayloadReply {
  bool found = false;
  std::string body{};
  std::string content_type{};
  std::string signature{};
};
void ReadPayloads(db::Transaction& tx, db::Items<FindRequest, PayloadReply> items);

/// What is in force now.
struct InForceReply {
  SnapshotPtr bots{};
};
struct InForceRequest {
  std::int64_t known = -1;  ///< that revision need not be read again
};
void ReadInForce(db::Transaction& tx, db::Items<InForceRequest, InForceReply> items);

struct ForgetRequest {
  std::int64_t keep_ms = 0;
};
/// One bounded batch of deliveries whose window is over: the same id is new afterwards.
db::Swept ForgetDeliveries(db::Transaction& tx, const ForgetRequest& request, std::int64_t now_ms);
/// One bounded batch of events, with their bodies.
db::Swept ForgetEvents(db::Transaction& tx, const ForgetRequest& request, std::int64_t now_ms);

}  // namespace tenure::webhooks
