#pragma once

#include <memory>
#include <vector>

#include "db/transaction.hpp"
#include "queues/message.hpp"

namespace tenure::queues {

/// What messages refer to and others store: the events of webhooks. Whoever stores them says what a
/// consumer is handed in their place.
class Events {
 public:
  virtual ~Events() = default;
  /// Fills the envelopes, in the transaction that hands the messages out. What is gone has none.
  /// REQUIRES: each refers to an event.
  virtual void Show(db::Transaction& tx, const std::vector<Message*>& messages) const = 0;
};
/// Null: nobody stores events in this process.
using EventsPtr = std::shared_ptr<const Events>;

/// Those of `messages` that refer to an event join the others.
inline void CollectReferring(std::vector<Message>& messages, std::vector<Message*>& referring) {
  for (Message& each : messages)
    if (each.event_id) referring.push_back(&each);
}
inline void ShowEvents(const EventsPtr& events, db::Transaction& tx,
                       const std::vector<Message*>& referring) {
  if (events && !referring.empty()) events->Show(tx, referring);
}

}  // namespace tenure::queues
