#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "db/method.hpp"
#include "messages/enqueue/enqueue.hpp"
#include "usage/window.hpp"

namespace tenure::usage {

/// Chunks travel as messages of this topic, which belongs to Tenure itself.
inline constexpr std::string_view kTopic = "usage";
/// What is put into chunks in one transaction: short enough not to hold up the lane.
inline constexpr std::int64_t kChunksPerStep = 16;

struct RangesRequest {
  std::int64_t chunk_size = 1'000;
  std::int64_t chunks = kChunksPerStep;  ///< at most
};
struct RangesReply {
  std::optional<Window> window{};  ///< none: every window is in chunks
  std::vector<Chunk> chunks{};     ///< the next ones
  bool is_last = false;            ///< there are no more

  std::size_t bytes() const { return db::BytesOf(chunks); }
};

/// Finds where the next chunks of the first unfinished window begin and end. A look: what a closed
/// window contains does not change, so whoever looks at it finds the same.
void FindNextRanges(db::Transaction& tx, db::Items<RangesRequest, RangesReply> items);

using EmitRequest = RangesReply;  ///< REQUIRES: it has a window
struct EmitReply {
  bool emitted = false;  ///< false: somebody else was faster
};

/// Writes chunks down and enqueues a message for each, in one transaction, provided that nobody
/// went on with the window since it was looked at: `last_id` is compared and moved in the same
/// transaction. So any number of processes may try, and each session of a window is in exactly one
/// chunk, whose name is the same for ever (U2).
class EmitHandler final : public messages::EnqueuingHandler<EmitRequest, EmitReply> {
 public:
  using EnqueuingHandler::EnqueuingHandler;
  std::string_view name() const override { return "usage.emit"; }
  db::LaneName lane() const override { return kWindowLane; }

 protected:
  messages::EnqueueEffect WriteItems(db::Transaction& tx, Items items) override;
};

/// A message for each chunk. Its correlation id names the chunk; the payload is for people.
messages::EnqueueRequest ChunkMessages(const std::vector<Chunk>& chunks);

}  // namespace tenure::usage
