#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/method.hpp"
#include "messages/message.hpp"
#include "messages/topics/topic_row.hpp"

/// Reads for people: what is where, and why it does not move.
namespace tenure::messages {

enum class MessageState { kWaiting, kReady, kClaimed, kDead, kDone };
std::string_view ToText(MessageState state);

/// Everything that is known of one message.
struct MessageView {
  base::Uuid id{};
  MessageState state = MessageState::kReady;
  std::string topic{};
  int priority = kDefaultPriority;
  std::int64_t fence = 0;
  std::int64_t attempts = 0;
  std::int64_t crashes = 0;
  std::int64_t enqueued_ms = 0;
  std::int64_t due_ms = 0;  ///< not before
  std::string owner{};      ///< who has it, or had it last
  std::int64_t claimed_ms = 0;
  std::int64_t lease_until_ms = 0;
  std::int64_t worker_until_ms = 0;  ///< of an owner with a heartbeat
  std::int64_t ended_ms = 0;         ///< when it died or was finished
  std::optional<DeathReason> reason{};
  std::string error{};
  std::string correlation_id{};
  std::string headers{};
  std::string trace{};
  PayloadKind kind = PayloadKind::kJson;
  std::string payload{};
  std::string output{};    ///< of a finished one
  std::int64_t ahead = 0;  ///< ready ones before it in its line, at most kMaxAhead
  std::int64_t paused_ms = 0;
  std::string paused_reason{};
  std::int64_t asked_ms = 0;  ///< when somebody asked for its topic
  std::int64_t now_ms = 0;
};
inline constexpr std::int64_t kMaxAhead = 1'000;
/// Who has not asked for so long does not work on a topic any more.
inline constexpr std::int64_t kUnhandledMs = 300'000;

struct FindRequest {
  std::string tenant{};
  base::Uuid id{};

  std::size_t bytes() const { return tenant.size(); }
};
struct FindReply {
  std::optional<MessageView> message{};
};
void FindMessages(db::Transaction& tx, db::Items<FindRequest, FindReply> items);

/// Messages that are to be done, for people: of one topic those in its lines, or those that wait for
/// their time.
struct MessagesRequest {
  enum class Which { kInLine, kReady, kClaimed, kWaiting };
  /// Of a list's row: by line, pos and id in a line, else by due_ms and id.
  struct Place {
    std::int64_t line = -1;
    std::int64_t pos = 0;
    std::int64_t due_ms = 0;
    base::Uuid id{};
  };

  std::string tenant{};
  std::string topic{};  ///< empty: any, of those that wait
  Which which = Which::kInLine;
  std::optional<Place> behind{};
  std::int64_t limit = 100;

  std::size_t bytes() const { return db::BytesOf(tenant, topic); }
};
/// As a cursor has it: "10-4711-0197c1f2-…" in a line, "1766311200000-0197c1f2-…" of
/// what waits.
std::string CursorOf(const MessagesRequest::Place& place, MessagesRequest::Which which);
std::optional<MessagesRequest::Place> ParseCursor(std::string_view text,
                                                  MessagesRequest::Which which);
struct ListedMessage {
  MessagesRequest::Place place{};
  std::string topic{};
  std::int64_t fence = 0;
  std::int64_t attempts = 0;
  std::int64_t crashes = 0;
  std::int64_t enqueued_ms = 0;
  std::int64_t claimed_ms = 0;
  std::int64_t lease_until_ms = 0;
  std::string owner{};
  std::int64_t worker_until_ms = 0;
  std::int64_t payload_bytes = 0;
  std::string error{};
  std::string correlation_id{};

  MessageState state() const;
};
struct MessagesReply {
  std::vector<ListedMessage> rows{};
  /// Where the next page begins. A page looks at no more than kMostLooked: it may have fewer rows
  /// than were asked for, even none, and another one follows.
  std::optional<MessagesRequest::Place> next{};
  MessagesRequest::Which which = MessagesRequest::Which::kInLine;
};
inline constexpr std::int64_t kMostLooked = 10'000;
void ListMessages(db::Transaction& tx, db::Items<MessagesRequest, MessagesReply> items);

inline constexpr std::int64_t kMaxDeadNamed = 10'000;
/// Figures of all tenants, for gauges and the overview.
struct CountsReply {
  struct Topic {
    std::string tenant{};
    std::string name{};
    std::int64_t ready = 0;
    std::int64_t oldest_age_ms = 0;
    bool unhandled = false;  ///< something is ready and nobody asks
  };
  struct DeadTopic {
    std::string tenant{};
    std::string name{};
    std::int64_t dead = 0;
    std::int64_t first_ms = 0;
    std::int64_t last_ms = 0;
  };
  struct PausedTopic {
    std::string tenant{};
    std::string name{};
    std::int64_t since_ms = 0;
    std::string reason{};
  };
  std::vector<Topic> topics{};  ///< those with something ready
  std::int64_t waiting = 0;     ///< for their time, counted up to kMaxCounted
  std::int64_t dead = 0;        ///< not redriven, counted up to kMaxCounted
  std::vector<DeadTopic>
      dead_topics{};  ///< the worst of them, each over its first kMaxDeadNamed letters
  std::vector<PausedTopic> paused{};  ///< the longest paused
  std::int64_t now_ms = 0;
};
CountsReply CountMessages(db::Transaction& tx, std::int64_t now_ms);

}  // namespace tenure::messages
