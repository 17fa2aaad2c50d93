#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "db/operation.hpp"
#include "messages/enqueue.hpp"
#include "usage/window.hpp"
#include "wake/registry.hpp"

namespace tenure::usage {

/// Chunks travel as messages of this topic, which belongs to Tenure itself.
inline constexpr std::string_view kTopic = "usage";
/// What is put into chunks in one transaction: short enough not to hold up the lane.
inline constexpr std::int64_t kChunksPerStep = 16;

struct RangesRequest {
  std::int64_t chunk_size = 1'000;
};
struct RangesReply {
  std::optional<Window> window{};  ///< none: every window is in chunks
  std::vector<Chunk> chunks{};     ///< the next ones
  bool is_last = false;            ///< there are no more
};

/// Finds where the next chunks of the first unfinished window begin and end. A look: what a closed
/// window contains does not change, so whoever looks at it finds the same.
class RangesHandler final : public db::TypedHandler<RangesRequest, RangesReply> {
 public:
  std::string_view name() const override { return "usage.ranges"; }
  bool reads() const override { return true; }

 protected:
  void ReadItems(db::Transaction& tx, Items items) override;
};

using EmitRequest = RangesReply;  ///< REQUIRES: it has a window
struct EmitReply {
  bool emitted = false;  ///< false: somebody else was faster
  messages::News news{};
  std::vector<messages::Directory::Known> opened{};
};

/// Writes chunks down and enqueues a message for each, in one transaction, provided that nobody
/// went on with the window since it was looked at: `last_id` is compared and moved in the same
/// transaction. So any number of processes may try, and each session of a window is in exactly one
/// chunk, whose name is the same for ever (U2).
class EmitHandler final : public db::TypedHandler<EmitRequest, EmitReply> {
 public:
  EmitHandler(messages::Directory& directory, std::string_view process, wake::Registry& wake)
      : directory_(directory), process_(process), wake_(wake) {}
  std::string_view name() const override { return "usage.emit"; }

 protected:
  void WriteItems(db::Transaction& tx, Items items) override;
  void DoneItems(Items items) override;

 private:
  messages::Directory& directory_;
  const std::string_view process_;
  wake::Registry& wake_;
};

/// A message for each chunk. Its correlation id names the chunk; the payload is for people.
messages::EnqueueRequest ChunkMessages(const std::vector<Chunk>& chunks);

}  // namespace tenure::usage
