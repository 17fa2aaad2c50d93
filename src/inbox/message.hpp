#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/uuid.hpp"
#include "db/columns.hpp"
#include "db/weight.hpp"

namespace tenure::inbox {

// Bounds of what a caller may send.
inline constexpr std::size_t kMaxKeyBytes = 255;  ///< of a source and of a message id
inline constexpr std::size_t kMaxHashBytes = 128;
inline constexpr std::size_t kMaxResultBytes = 64 * 1024;
inline constexpr std::size_t kMaxErrorBytes = 2'000;
inline constexpr std::int64_t kMinLeaseMs = 100;
inline constexpr std::int64_t kMaxLeaseMs = 86'400'000;
inline constexpr std::int64_t kDefaultLeaseMs = 30'000;

/// Which inbound message: a source's own id for it. Two sources may use the same id. The order is
/// that of the columns (collation "C").
struct MessageKey {
  std::string tenant{};
  std::string source{};
  std::string message_id{};

  friend auto operator<=>(const MessageKey&, const MessageKey&) = default;
  std::size_t bytes() const { return db::BytesOf(tenant, source, message_id); }
};
inline constexpr auto kKeyColumns =
    db::Members(&MessageKey::tenant, &MessageKey::source, &MessageKey::message_id);

struct MessageKeyHash {
  std::size_t operator()(const MessageKey& key) const noexcept {
    const std::hash<std::string> hash;
    return (hash(key.message_id) * 31 + hash(key.source)) * 31 + hash(key.tenant);
  }
};

enum class State {
  kNew = 0,       ///< nobody has begun it
  kClaimed = 1,   ///< somebody was told to process it, and has not told the end
  kRetrying = 2,  ///< failed; the next delivery after the back-off is told to process it
  kDone = 3,
  kDead = 4,  ///< failed or crashed too often: nobody is told to process it any more
};

/// A delivery asks what to do with its message.
struct BeginCommand {
  MessageKey key{};
  std::string hash{};  ///< of the message's content; empty: matches any
  std::int64_t lease_ms = kDefaultLeaseMs;
  std::optional<base::Uuid> term{};  ///< of this delivery: with it a lost answer can be had again

  std::size_t bytes() const { return db::BytesOf(key, hash); }
};

struct BeginOutcome {
  enum class Kind {
    kProcess,     ///< to exactly one caller: do it, then complete or fail with `fence`
    kInProgress,  ///< somebody does, or the back-off lasts: come back at `until_ms`
    kDone,        ///< it was done, with `result`
    kConflict,    ///< another message came under this id before: `hash` is its
    kDead,        ///< given up after `error`
  };
  Kind kind = Kind::kInProgress;
  std::int64_t fence = 0;
  std::int64_t until_ms = 0;  ///< kProcess: the deadline; kInProgress: when to ask again
  std::int64_t attempts = 0;  ///< kProcess: failures that were reported before
  std::int64_t crashes = 0;   ///< kProcess: claims before that ended without a word
  bool retrying = false;      ///< kInProgress: nobody works on it, the back-off lasts
  std::string result{};       ///< JSON; empty: there is none
  std::string hash{};
  std::string error{};
  bool died = false;  ///< kDead: this very delivery found the crash budget spent
};

/// Whoever was told to process tells the end: done with `result`, or failed with `error`.
struct CompleteCommand {
  MessageKey key{};
  std::int64_t fence = 0;
  std::string result{};  ///< JSON; empty: none

  std::size_t bytes() const { return db::BytesOf(key, result); }
};
struct FailCommand {
  MessageKey key{};
  std::int64_t fence = 0;
  std::string error{};

  std::size_t bytes() const { return db::BytesOf(key, error); }
};

struct FinishOutcome {
  enum class Kind {
    kAccepted,  ///< now, or by the same claim before
    kStale,     ///< the claim with this fence is over; what is follows
    kUnknown,   ///< no such message
    kBusy,      ///< a transaction that is about to decide the same entry is open; nothing happened
  };
  Kind kind = Kind::kUnknown;
  State state = State::kNew;  ///< of the entry afterwards
  std::int64_t fence = 0;     ///< of its latest claim
  std::int64_t until_ms = 0;  ///< kClaimed: the deadline; kRetrying: the end of the back-off
  std::int64_t attempts = 0;
  bool died = false;  ///< this very failure spent the budget
};

/// "process", "in_progress", …: the words of the API.
std::string_view ToText(BeginOutcome::Kind kind);
std::string_view ToText(State state);

}  // namespace tenure::inbox
