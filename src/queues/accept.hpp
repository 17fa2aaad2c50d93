#pragma once

#include <string_view>

#include "db/operation.hpp"
#include "queues/batch.hpp"
#include "queues/events.hpp"
#include "queues/message.hpp"
#include "wake/registry.hpp"

namespace tenure::queues {

/// Hands sessions out to all accepts of this process that wait, in one transaction.
///
/// Why one consumer at a time (Q1): a session is handed out only by a transaction that has locked
/// its row FOR UPDATE, with a fence above every earlier one; every report compares it. What a user's
/// transaction completed is applied before.
///
/// Why never above the cap (Q3): where there is one, accepts take the queue's gate, and read the
/// sums of its counters in a later statement. What others have not committed yet can only be the
/// end of a hold, which makes the sum too high. So at most cap - held are granted, and the places
/// of holds that this transaction ended itself.
///
/// Nobody is passed over for good (Q4): a session that another transaction has locked is not seen
/// here. Whoever got less than it asked for is told whether one may be taken, from a look without
/// locks after the changes; then it asks again soon.
///
/// Back-offs and reservations that are over and holds past their deadline are found by their time,
/// and get their place in line like everybody else.
class AcceptHandler final : public ChangingHandler<AcceptRequest, AcceptReply> {
 public:
  AcceptHandler(const EventsPtr& events, Probe* probe, std::string_view process,
                wake::Registry& wake)
      : ChangingHandler(probe, process, wake), events_(events) {}
  std::string_view name() const override { return "queues.accept"; }
  /// A queue has one lane of a process: its accepts do not pass over each other's sessions.
  std::size_t KeyHash(const AcceptRequest& request) const override {
    return std::hash<std::string>()(request.queue);
  }

 protected:
  Effects WriteItems(db::Transaction& tx, Items items) override;

 private:
  const EventsPtr& events_;
};

}  // namespace tenure::queues
