#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "db/method.hpp"
#include "messages/message.hpp"
#include "messages/topics/topic_row.hpp"
#include "messages/waiting/notifications.hpp"

/// Topics as operators see and change them.
namespace tenure::messages {

/// A topic and how full it is. Counting stops at kMaxCounted.
struct TopicView {
  std::string name{};
  TopicRow row{};
  std::int64_t ready = 0;
  std::int64_t claimed = 0;
  std::int64_t dead = 0;
  std::int64_t oldest_ms = 0;  ///< when the first ready one was enqueued or due; 0: there is none
  std::int64_t now_ms = 0;
};

struct TopicsRequest {
  std::string tenant{};
  std::string name{};  ///< this one; empty: those behind `after`
  std::string after{};
  std::int64_t limit = 100;

  std::size_t bytes() const { return db::BytesOf(tenant, name, after); }
};
using TopicsReply = db::Page<TopicView>;
db::Transaction::Pending QueueTopics(db::Transaction& tx, const TopicsRequest& request,
                                     std::int64_t rows);
TopicView ReadTopicView(const db::Rows::Row& row, std::int64_t now_ms);

/// Topics whose names begin so, in their order.
struct FindTopicsRequest {
  std::string tenant{};
  std::string prefix{};
  std::int64_t limit = 10;

  std::size_t bytes() const { return db::BytesOf(tenant, prefix); }
};
struct FoundTopics {
  struct Topic {
    std::string name{};
    bool is_paused = false;
  };
  std::vector<Topic> topics{};
};
void FindTopics(db::Transaction& tx, db::Items<FindTopicsRequest, FoundTopics> items);

struct TopicChangeReply {
  std::optional<db::AuditEvent> event{};  ///< what is different now; none: nothing
};
/// Makes the topic where there is none: a pause may come before the first message. The row is
/// locked before it is changed, so what goes on record as old values is what was there. What waited
/// in a topic that goes on is ready.
class TopicChangeHandler final : public NotifyingHandler<TopicChange, TopicChangeReply> {
 public:
  using NotifyingHandler::NotifyingHandler;
  std::string_view name() const override { return "messages.topic_change"; }
  db::LaneName lane() const override { return db::LaneName::UserKeys(); }
  std::size_t KeyHash(const TopicChange& change) const override {
    return std::hash<std::string>()(change.name) * 31 + std::hash<std::string>()(change.tenant);
  }

 protected:
  Notifications WriteItems(db::Transaction& tx, Items items) override;
};

/// Notes that somebody asks for these topics: a message that is ready and nobody asks for can say
/// so.
struct TouchRequest {
  std::vector<TopicKey> topics{};

  std::size_t bytes() const { return db::BytesOf(topics); }
};
struct TouchReply {};
void TouchTopics(db::Transaction& tx, db::Items<TouchRequest, TouchReply> items);

}  // namespace tenure::messages
