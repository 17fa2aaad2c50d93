#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/task.hpp"
#include "messages/messages.hpp"
#include "usage/emit.hpp"
#include "usage/records.hpp"

namespace tenure::usage {

/// What becomes of a chunk that was sent.
struct ChunkChange {
  enum class Kind {
    kAcknowledged,
    kHalve,    ///< the receiver refuses it as a whole: each half goes by itself
    kRefused,  ///< it refuses this single record
  };
  ChunkName name{};
  Kind kind = Kind::kAcknowledged;
  std::string answer{};         ///< kRefused: with which words
  std::vector<Chunk> halves{};  ///< kHalve: two

  std::size_t bytes() const { return db::BytesOf(name, answer, halves); }
};
struct ChunkChangeReply {};

/// Strikes chunks off, halves them, or marks them, in one transaction. Halves are written and
/// enqueued only by the transaction that struck off the whole: a chunk is halved once.
class ChangeHandler final : public messages::EnqueuingHandler<ChunkChange, ChunkChangeReply> {
 public:
  using EnqueuingHandler::EnqueuingHandler;
  std::string_view name() const override { return "usage.change"; }
  db::LaneName lane() const override { return kWindowLane; }
  std::size_t KeyHash(const ChunkChange& change) const override {
    return std::hash<std::string>()(ToText(change.name));
  }

 protected:
  messages::EnqueueEffect WriteItems(db::Transaction& tx, Items items) override;
};

/// A request to the receiver.
struct Post {
  std::string idempotency_key{};  ///< the same whenever the chunk is sent
  std::string body{};
};
/// What came back.
struct PostReply {
  int status = 0;  ///< 0: no answer
  std::string body{};
  std::optional<std::int64_t> retry_after_ms{};
  std::string error{};  ///< why there is no answer
};

/// What a chunk came to.
enum class ChunkOutcome {
  kAcknowledged,
  kHalved,
  kRefused,
  kFailed,   ///< it is sent again later
  kSkipped,  ///< there was nothing to send any more
  kDropped,  ///< we are stopping, or the store is away: somebody sends it again
};
struct Delivered {
  ChunkOutcome outcome = ChunkOutcome::kAcknowledged;
  std::int64_t records = 0;
  std::optional<std::int64_t> retry_after_ms{};  ///< kFailed: what the receiver asked for
  std::string error{};                           ///< kFailed, kRefused
};

/// Brings a chunk that was claimed as a message to the receiver: load, send, note, acknowledge.
///
/// Why each record is applied once (U2) and none is lost: the chunk stays on record until the
/// receiver has answered 2xx, and its message until the chunk is off the record. After a crash
/// between any two steps the message comes again: the chunk is still there, and then it is sent
/// again, under the same key and with the same bytes; or it is not, and then only the message is
/// acknowledged. A former holder of the message may still be sending: that is the same key and the
/// same bytes once more.
///
/// It waits for nothing and has no thread: each step continues where the one before it completes.
class ChunkDelivery {
 public:
  struct Parts {
    std::function<void(ChunkName, base::UniqueFunction<db::Result<LoadReply>>)> load;
    std::function<void(ChunkChange, base::UniqueFunction<db::Result<ChunkChangeReply>>)> change;
    std::function<void(messages::SettleRequest,
                       base::UniqueFunction<db::Result<messages::SettleResult>>)>
        settle;
    std::function<void(Post, base::UniqueFunction<PostReply>)> post;
    std::string installation{};  ///< of the store: part of the keys
  };

  explicit ChunkDelivery(Parts parts) : parts_(std::move(parts)) {}

  /// REQUIRES: the delivery outlives the call of `done`.
  void Deliver(const messages::ClaimedMessage& message, base::UniqueFunction<Delivered> done) const;

 private:
  struct Journey;
  using JourneyPtr = std::shared_ptr<Journey>;
  void Loaded(const JourneyPtr& journey, db::Result<LoadReply> result) const;
  void Answered(const JourneyPtr& journey, PostReply reply) const;
  void Change(const JourneyPtr& journey, ChunkChange change,
              messages::Disposition disposition) const;
  void Finish(const JourneyPtr& journey, messages::Disposition disposition) const;

  const Parts parts_;
};

/// "<installation>.<incarnation>-<window>-<chunk>".
std::string KeyOf(std::string_view installation, std::int64_t incarnation, const ChunkName& name);

/// What a status means for a chunk.
enum class Meaning { kTaken, kRefused, kTryAgain };
Meaning MeaningOf(int status);

}  // namespace tenure::usage
