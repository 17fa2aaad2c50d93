#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/method.hpp"
#include "queues/message.hpp"

namespace tenure::queues {

// Looks: queues, sessions, messages.

/// Sums of a queue's counters, over all generations.
struct QueueSums {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  std::int64_t ready = 0;  ///< sessions with messages that nobody holds; backing off, too
  std::int64_t held = 0;
  std::int64_t parked = 0;
};
struct QueueView {
  QueueRow queue{};
  QueueSums sums{};
  std::int64_t oldest_ms =
      0;                     ///< when the head of the first session in line was put in; 0: none is
  std::int64_t backoff = 0;  ///< sessions, of the thousand whose time comes first
  std::int64_t staged =
      0;  ///< messages of users' transactions that have not entered; a thousand at most
  std::int64_t asked_ms =
      0;  ///< when somebody last asked for its sessions, to the minute; 0: never
  // Of generations before the current one, which waits for them.
  std::int64_t older_messages = 0;
  std::int64_t older_parked = 0;
  std::int64_t now_ms = 0;

  std::int64_t OldestReadyMs() const;
  /// Places under the cap that are taken, of a hundred; 0: there is none.
  std::int64_t Utilization() const;
};
struct QueuesRequest {
  std::string tenant{};
  std::string name{};    ///< empty: any
  std::string begins{};  ///< only names that begin so; empty: any
  std::string after{};   ///< the name behind which the page begins
  std::int64_t limit = 100;

  std::size_t bytes() const { return db::BytesOf(tenant, name, begins, after); }
};
db::Transaction::Pending QueueQueues(db::Transaction& tx, const QueuesRequest& request,
                                     std::int64_t rows, std::int64_t now_ms);
QueueView ReadQueueView(const db::Rows::Row& row, std::int64_t now_ms);

/// Who holds sessions of a queue.
struct ConsumerView {
  std::string consumer{};
  std::int64_t sessions = 0;
  std::int64_t seen_ms = 0;  ///< its last report, or accept
};
struct ConsumersRequest {
  std::string tenant{};
  std::string queue{};
  std::int64_t limit = 1'000;

  std::size_t bytes() const { return db::BytesOf(tenant, queue); }
};
db::Transaction::Pending QueueConsumers(db::Transaction& tx, const ConsumersRequest& request,
                                        std::int64_t rows);
ConsumerView ReadConsumer(const db::Rows::Row& row);

struct SessionView {
  SessionRow session{};
  QueueRow queue{};
  std::int64_t head_enqueued_ms = 0;  ///< 0: there is no message
  bool is_behind = false;             ///< an older generation has messages
  std::int64_t held = 0;              ///< sessions of the queue that are
  std::int64_t before = -1;           ///< those that are before it in line; -1: nobody counted
  std::int64_t staged = 0;            ///< messages of users' transactions that have not entered it
  Limits limits{};
  std::int64_t asked_ms = 0;  ///< as of its queue
  std::int64_t now_ms = 0;

  /// Why it does not move, or what it waits for, as a word; Explain says it in sentences.
  std::string_view Reason() const;
  std::int64_t FrozenUntilMs() const;
};
struct SessionsRequest {
  std::string tenant{};
  std::string queue{};
  // Those that are named; then the rest does not count.
  std::optional<base::Uuid> id{};
  std::string key{};  ///< or printed name; empty: any
  // A page of all.
  std::optional<State> state{};
  std::string consumer{};      ///< that holds them; empty: any
  std::string share{};         ///< empty: any
  std::int64_t min_depth = 0;  ///< with so many messages at least
  std::string after_key{};     ///< the page begins behind this one, of this generation
  std::int64_t after_generation = 0;
  std::int64_t limit = 100;

  std::size_t bytes() const { return db::BytesOf(tenant, queue, key, consumer, share, after_key); }
};
db::Transaction::Pending QueueSessions(db::Transaction& tx, const SessionsRequest& request,
                                       std::int64_t rows);
SessionView ReadSessionView(const db::Rows::Row& row, std::int64_t now_ms);

enum class PeekedState : std::uint8_t { kAny, kWaiting, kParked, kDone, kDead };
std::string_view ToText(PeekedState state);

/// A message of a session, without a hold on it.
struct PeekedMessage {
  Message message{};
  std::int64_t head = 0;  ///< of its session
  bool dead = false;
  bool parked = false;

  PeekedState State() const;
};
struct PeekRequest {
  std::string tenant{};
  std::string queue{};
  base::Uuid session{};
  std::int64_t from = 0;
  PeekedState state = PeekedState::kAny;
  std::int64_t limit = 100;

  std::size_t bytes() const { return db::BytesOf(tenant, queue); }
};
db::Transaction::Pending QueuePeek(db::Transaction& tx, const PeekRequest& request,
                                   std::int64_t rows);
PeekedMessage ReadPeeked(const db::Rows::Row& row);

/// Whose session it is, for those who know its id alone.
struct OwnerRequest {
  std::string tenant{};
  base::Uuid session{};

  std::size_t bytes() const { return tenant.size(); }
};
struct OwnerReply {
  std::string queue{};  ///< empty: there is no such session
};
void FindOwners(db::Transaction& tx, db::Items<OwnerRequest, OwnerReply> items);

/// Somebody asks for sessions of a queue: that is written down, to the minute.
struct TouchRequest {
  std::string tenant{};
  std::string queue{};

  std::size_t bytes() const { return db::BytesOf(tenant, queue); }
};
struct TouchReply {};
void TouchQueues(db::Transaction& tx, db::Items<TouchRequest, TouchReply> items);

/// Sessions of a queue that have messages, or are held.
struct LeftRequest {
  std::string tenant{};
  std::string queue{};
  std::int64_t limit = 500;

  std::size_t bytes() const { return db::BytesOf(tenant, queue); }
};
struct LeftReply {
  std::vector<base::Uuid> sessions{};
  std::int64_t messages = 0;  ///< of these
};
void FindLeft(db::Transaction& tx, db::Items<LeftRequest, LeftReply> items);

/// What a consumer holds of a queue.
struct HoldsRequest {
  std::string tenant{};
  std::string queue{};
  std::string consumer{};

  std::size_t bytes() const { return db::BytesOf(tenant, queue, consumer); }
};
struct HeldBy {
  base::Uuid session{};
  std::int64_t fence = 0;
};
struct HoldsReply {
  std::vector<HeldBy> holds{};  ///< a thousand at most
};
void FindHeldBy(db::Transaction& tx, db::Items<HoldsRequest, HoldsReply> items);

}  // namespace tenure::queues
