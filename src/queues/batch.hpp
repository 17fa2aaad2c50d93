#pragma once

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "db/transaction.hpp"
#include "queues/effects.hpp"
#include "queues/line.hpp"
#include "queues/message.hpp"

namespace tenure::queues {

/// Of all that one transaction hands out, about: what is asked for behind that is for the next one.
inline constexpr std::int64_t kMaxBatchBytes = 64 << 20;

/// What a message adds to an answer, about: of an event it is not the whole body.
inline std::int64_t AnswerBytes(const Message& message) {
  constexpr std::int64_t kMostOfAnEvent = 1 << 20;
  return message.event_id ? std::clamp<std::int64_t>(message.payload_bytes, 0, kMostOfAnEvent)
                          : std::ssize(message.payload);
}

/// Which session, and in whose name: of another tenant's or another queue's nothing is loaded.
struct SessionName {
  base::Uuid id{};
  std::string tenant{};
  std::string queue{};
};

/// The sessions of a transaction: loaded under their locks, changed by the rule book, written with
/// everything that hangs on them.
///
///   batch.Load(tx, names);            // after the statement that locked them, in the same flush
///   … the clock …
///   batch.Take(tx, now_ms);
///   batch.Find(id)->Complete(…);
///   batch.Apply(tx);                  // the last thing before COMMIT: counters are the last locks
///   … COMMIT …
///   Tell(batch.effects(), wake, probe);
class Batch {
 public:
  explicit Batch(std::string_view process) : process_(process) {}

  /// REQUIRES: each id once.
  void Load(db::Transaction& tx, std::vector<SessionName> names);
  /// `locked`: only these; the others are passed over.
  void Take(db::Transaction& tx, const std::set<base::Uuid>& locked, std::int64_t now_ms);
  /// The queue of one that was loaded and not locked; null: there is none.
  const QueueRow* PassedOver(const base::Uuid& id) const;

  /// What a user's transaction completed, from the row's first column on: fence, sequence, state.
  void ApplyMark(Session& session, const db::Rows::Row& row, std::size_t first);

  /// A row that was read under its own lock.
  Session& Add(SessionRow row, const QueueRow& queue, std::int64_t now_ms);
  /// It stays where it is.
  const QueueRow& Know(QueueRow queue);

  /// Null: there is none.
  Session* Find(const base::Uuid& id);
  std::map<base::Uuid, Session>& sessions() { return sessions_; }

  Line& line() { return line_; }
  /// Where the lines of these shares end; those that are known already are left out.
  void LoadLevels(db::Transaction& tx, std::vector<Line::Share> shares);
  void TakeLevels(db::Transaction& tx);
  /// Gives those that became ready their places.
  void Place(db::Transaction& tx);

  /// Puts a message into its session. Returns its sequence.
  std::int64_t Put(Session& session, const NewMessage& message, const base::Uuid& id);
  /// So many bytes of messages that had left it are there again.
  void CameBack(const Session& session, std::int64_t bytes) {
    came_bytes_[session.row().id] += bytes;
  }
  void WriteState(const base::Uuid& session, std::string state, std::int64_t fence);

  void Apply(db::Transaction& tx);
  /// After Apply: of what was reported, what its senders' traces are. Only where traces are recorded.
  void LoadHandled(db::Transaction& tx);
  /// After Apply.
  const Effects& effects() const { return effects_; }

 private:
  struct Stored {
    base::Uuid session{};
    Message message{};
  };
  struct State {
    base::Uuid session{};
    std::string state{};
    std::int64_t fence = 0;
  };
  void WriteMessages(db::Transaction& tx);
  void WriteCounters(db::Transaction& tx);
  void Notify(db::Transaction& tx);
  void Count();

  const std::string_view process_;
  std::int64_t now_ms_ = 0;
  std::vector<SessionName> names_;
  db::Transaction::Pending loading_{};
  std::map<std::int64_t, QueueRow> queues_;
  std::map<base::Uuid, Session> sessions_;
  std::map<base::Uuid, const QueueRow*> passed_over_;
  Line line_;
  std::vector<Line::Share> known_;
  std::vector<Line::Share> asked_;
  db::Transaction::Pending levels_{};
  std::deque<Stored> stored_;
  std::map<base::Uuid, std::int64_t> came_bytes_;
  std::vector<State> states_;
  Effects effects_;
};

/// The messages that sessions may hand out next, as far as they were loaded. What is loaded ahead, for all of them in one
/// statement, is bounded together; a head for which there was no room is loaded by itself when it is handed out.
class Slices {
 public:
  /// Of what is loaded ahead.
  static constexpr std::int64_t kMaxAheadBytes = 4 * kMaxAcceptBytes;

  struct Asked {
    base::Uuid session{};
    std::int64_t from = 0;
    std::int64_t want = 0;
  };

  /// Ahead. REQUIRES: each session once.
  void Load(db::Transaction& tx, std::vector<Asked> asked);
  void Take(db::Transaction& tx);
  /// Whether so much was loaded that what is asked for now is for the next transaction.
  bool is_full() const { return bytes_ >= kMaxBatchBytes; }

  /// The messages from the session's head on, no more than `most` and none that has expired; loads
  /// what is not here. They are handed out.
  std::vector<Message> HandOut(db::Transaction& tx, Session& session, std::int64_t most,
                               std::int64_t bytes);
  /// When the head expires; 0: never. Loads it if it is not here.
  std::int64_t HeadExpiresMs(db::Transaction& tx, const Session& session, std::int64_t want,
                             std::int64_t bytes);

 private:
  std::deque<Message>& FromHead(db::Transaction& tx, const Session& session, std::int64_t want,
                                std::int64_t bytes);

  /// At most so many bytes of each. `whole_head`: but its first message, whatever its size.
  void Queue(db::Transaction& tx, std::vector<Asked> asked, std::int64_t bytes, bool whole_head);

  std::vector<Asked> asked_;
  db::Transaction::Pending loading_{};
  std::map<base::Uuid, std::deque<Message>> loaded_;
  std::int64_t bytes_ = 0;  // of what was loaded
};

}  // namespace tenure::queues
