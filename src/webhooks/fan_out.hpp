#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "messages/enqueue/enqueue.hpp"
#include "queues/enqueue.hpp"
#include "webhooks/bots/file.hpp"
#include "webhooks/delivery.hpp"
#include "webhooks/full_topics.hpp"

namespace tenure::webhooks {

/// How a fault begins that says which queue is full.
inline constexpr std::string_view kQueueFull = "full queue: ";

/// The messages of events for bots, in one transaction: those of bots that keep no order are messages
/// of their topics, the others enter their sessions.
///
/// Lock order: messages of topics, then the ordered queues, behind whose counters nobody locks
/// anything.
class FanOut {
 public:
  FanOut(messages::TopicCache& topics, std::string_view process, std::size_t inline_payload_bytes,
         const FullTopics& full)
      : inline_payload_bytes_(inline_payload_bytes),
        full_(full),
        enqueuer_(topics, process),
        ordered_(process) {}

  /// From here on it is this event. What follows refers to it until the next one.
  void Begin(const EventRow& row, const rules::Event& event, std::int64_t now_ms);
  /// Its messages for a bot that wants it; how many they are. Throws as Send.
  std::int64_t Give(const bots::Bot& bot);
  /// Of those without order, as the event's row has them.
  std::string TopicMessages() const;

  /// All of them, as the last thing of the transaction. All or nothing: throws a fault that begins
  /// with kQueueFull where one queue is full; nothing may remain of it then.
  void Send(db::Transaction& tx);

  const messages::EnqueueEffect& sent() const { return enqueuer_.effect(); }
  const messages::Notifications& ordered() const { return ordered_.notifications(); }
  /// The events that the rule of a bot did not apply to, for each bot once.
  const std::vector<std::string>& fallbacks() const { return fallbacks_; }

 private:
  /// A message of a topic: the event stays for as long as there is one.
  struct Reference {
    base::Uuid event_id;
    base::Uuid message_id;
  };

  void GiveTopic(const bots::Bot& bot);
  std::int64_t GiveSessions(const bots::Bot& bot);
  void SendSessions(db::Transaction& tx);

  const std::size_t inline_payload_bytes_;
  const FullTopics& full_;
  const EventRow* row_ = nullptr;
  const rules::Event* event_ = nullptr;
  std::int64_t now_ms_ = 0;
  std::deque<messages::EnqueueRequest> requests_;  // one of each event
  std::deque<queues::SendRequest> sends_;
  std::vector<Reference> references_;
  std::vector<std::string> fallbacks_;
  messages::Enqueuer enqueuer_;
  queues::Enqueuer ordered_;
};

}  // namespace tenure::webhooks
