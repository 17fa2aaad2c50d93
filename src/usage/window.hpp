#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.hpp"
#include "db/lane_name.hpp"
#include "db/transaction.hpp"
#include "db/weight.hpp"
#include "usage/arithmetic.hpp"

namespace tenure::usage {

/// All that changes windows goes to one lane: it never waits for itself.
inline constexpr db::LaneName kWindowLane = db::LaneName::Shared(0);

enum class WindowState : std::uint8_t {
  kClosed = 1,    ///< nobody is told: there was no endpoint
  kEmitting = 2,  ///< being put into chunks
  kEmitted = 3,   ///< all of it is in chunks
};

/// A window that is closed: what it contains does not change any more.
struct Window {
  std::int64_t number = 0;
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;
  std::int64_t sealed_ms = 0;
  std::int64_t incarnation = 0;
  WindowState state = WindowState::kClosed;
  base::Uuid last_id{};  ///< the last session that is in a chunk
  std::int64_t chunks = 0;
  std::int64_t records = 0;

  Interval interval() const { return {start_ms, end_ms}; }
};

/// Of the columns that every query on windows returns.
Window ReadWindow(const db::Rows::Row& row);
std::optional<Window> ReadWindow(const db::Rows& rows);

/// The records of a window are written like this; a chunk remembers by which rule its own are.
inline constexpr std::int64_t kFormat = 1;

/// Which chunk: "3", and "3.0" and "3.1" where that one was halved.
struct ChunkName {
  std::int64_t number = 0;  ///< of the window
  std::string chunk{};

  friend auto operator<=>(const ChunkName&, const ChunkName&) = default;
  std::size_t bytes() const { return chunk.size(); }
};
inline constexpr auto kNameColumns = db::Members(&ChunkName::number, &ChunkName::chunk);

/// "17-3.0": the third chunk of window 17, its first half.
std::string ToText(const ChunkName& name);
std::optional<ChunkName> ParseChunkName(std::string_view text);

/// A run of sessions of one window that the receiver has not acknowledged.
struct Chunk {
  ChunkName name{};
  base::Uuid first_id{};
  base::Uuid last_id{};
  std::int64_t records = 0;
  std::int64_t format = kFormat;

  std::size_t bytes() const { return name.bytes(); }
};

/// Queues the insert of chunks.
void InsertChunks(db::Transaction& tx, const std::vector<Chunk>& chunks);

/// All factors on record.
Factors TakeFactors(const db::Rows& rows, std::vector<Factor>* all = nullptr);

}  // namespace tenure::usage
