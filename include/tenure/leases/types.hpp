#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tenure::leases {

using Milliseconds = std::chrono::milliseconds;

// Bounds of what a lease may be; every provider keeps to them.
inline constexpr std::size_t kMaxNameBytes = 200;  ///< of A-Z a-z 0-9 . _ : / @ -
inline constexpr Milliseconds kMinTtl{100};
inline constexpr Milliseconds kMaxTtl{24LL * 3'600'000};
inline constexpr Milliseconds kMaxWait{60'000};
inline constexpr std::size_t kMaxHolderBytes = 200;
inline constexpr std::size_t kMaxMetadataBytes = 4096;
inline constexpr std::size_t kMaxReasonBytes = 500;
inline constexpr std::size_t kMaxListed = 1'000;  ///< of one page
// The same for reliable tasks.
inline constexpr std::size_t kMaxTaskNameBytes = kMaxNameBytes - 5;  ///< its lease is "task/<name>"
inline constexpr Milliseconds kMinInterval{100};
inline constexpr Milliseconds kMaxInterval{366LL * 86'400'000};
inline constexpr std::size_t kMaxTaskErrorBytes = 4'096;

bool IsLeaseName(std::string_view name);

/// A new random term: 128 bits as a UUID's text.
std::string NewTerm();

/// What the store granted. Times are milliseconds since 1970 by the store's clock and are for
/// people; a holder counts by `remaining` and `waited` from the moment at which it sent its request
/// (docs/leases.md).
struct Grant {
  std::string name;
  std::int64_t fence = 0;  ///< rises with each new holder of the name, for ever
  std::string term;        ///< this acquisition, chosen by the caller
  std::string holder;
  std::string metadata;  ///< a JSON object, or empty
  Milliseconds ttl{};
  Milliseconds remaining{};  ///< until the deadline, at the granting statement
  Milliseconds waited{};     ///< inside of the provider, before that statement was sent
  std::int64_t granted_at_ms = 0;
  std::int64_t expires_at_ms = 0;
  std::int64_t now_ms = 0;  ///< of the granting statement
  /// By how much `now_ms` may be off: a store that stamps whole seconds, or by several machines.
  Milliseconds now_slack{0};
};

/// Why a grant is over.
enum class LossReason {
  kReleased = 1,  // the numbers are those of the store's history
  kExpired = 2,
  kTakenOver = 3,
  kBroken = 4,
  kUnknown = 5,  ///< the name or the term is not known (any more)
};
std::string_view ToText(LossReason reason);
std::optional<LossReason> ParseLossReason(std::string_view text);

/// Why a name cannot be granted now.
enum class HeldReason {
  kHeld,     ///< somebody holds it
  kQueued,   ///< it is free, and somebody else waits for it longer
  kGuarded,  ///< it is free, and a transaction that checked the last fence is still open
  kFrozen,   ///< the store may have forgotten commits; nothing is granted for a while
};
std::string_view ToText(HeldReason reason);
std::optional<HeldReason> ParseHeldReason(std::string_view text);

struct HeldByAnother {
  HeldReason reason = HeldReason::kHeld;
  std::string holder;              ///< of the last grant; empty when there was none
  std::int64_t fence = 0;          ///< of the last grant
  std::int64_t expires_at_ms = 0;  ///< of the last grant, by the store's clock
  Milliseconds retry_after{};      ///< when asking again may help, if nobody releases it before
};

/// The term of this request was granted once and is over: it is never granted again.
struct TermEnded {
  LossReason reason = LossReason::kUnknown;
};

struct AcquireRequest {
  std::string name{};
  std::string term{};
  Milliseconds ttl{30'000};
  std::string holder{};    ///< for people: who asks
  std::string metadata{};  ///< for people: a JSON object, or empty
  Milliseconds wait{0};    ///< how long to wait for one's turn, first come first served
};
using AcquireOutcome = std::variant<Grant, HeldByAnother, TermEnded>;

struct RenewRequest {
  std::string name{};
  std::int64_t fence = 0;
  std::string term{};
  std::optional<Milliseconds> ttl{};  ///< empty: as before
};
struct Loss {
  LossReason reason = LossReason::kUnknown;
};
using RenewOutcome = std::variant<Grant, Loss>;

struct ReleaseRequest {
  std::string name{};
  std::string term{};
  std::optional<std::int64_t> fence{};  ///< the term alone suffices
};
struct ReleaseOutcome {
  bool released = false;                      ///< by this call
  LossReason reason = LossReason::kReleased;  ///< when not: how the grant ended before
};

struct BreakRequest {
  std::string name{};
  std::string reason{};
  Milliseconds drain{0};  ///< the next grant comes no sooner than this
  bool force = false;     ///< grants at once; the holder may still believe that it holds
  /// Only the grant with this fence, so that a repeated request does not break the next one too.
  std::optional<std::int64_t> fence{};
};
struct BreakOutcome {
  bool broken = false;   ///< false: nobody held it, or it is guarded
  bool guarded = false;  ///< a transaction that checked its fence is still open: try again soon
  std::string holder;    ///< whose grant it was
  std::int64_t fence = 0;
  std::int64_t free_at_ms = 0;  ///< from when on it may be granted again
};

/// One grant that is over.
struct PastGrant {
  std::int64_t fence = 0;
  std::string term;
  std::string holder;
  std::int64_t granted_at_ms = 0;
  std::int64_t ended_at_ms = 0;
  LossReason reason = LossReason::kReleased;
  std::string detail;  ///< why it was broken
};

enum class LeaseState { kFree, kHeld, kBroken };  ///< kBroken: held until its deadline, no renewal
std::string_view ToText(LeaseState state);

/// A name as anybody may see it.
/// A user's own database transaction that checked the fence of a lease and is still open.
struct LeaseGuard {
  std::int64_t pid = 0;  ///< of PostgreSQL's process
  std::string user;
  std::int64_t since_ms = 0;
};

struct LeaseView {
  std::string name;
  LeaseState state = LeaseState::kFree;
  std::int64_t fence = 0;
  std::string term;  ///< as the rest: of the grant under way, empty when it is free
  std::string holder;
  std::string metadata;
  Milliseconds ttl{};
  std::int64_t granted_at_ms = 0;
  std::int64_t renewed_at_ms = 0;
  std::int64_t expires_at_ms = 0;
  std::string break_reason;
  std::int64_t waiters = 0;
  /// Until when it is not granted though it is free, because the store was restored; 0: it is.
  std::int64_t frozen_until_ms = 0;
  std::optional<LeaseGuard> guard{};  ///< what holds off the next grant, as far as we may see it
  std::int64_t now_ms = 0;
  std::vector<PastGrant> history;  ///< newest first; only where it was asked for
};

struct ListRequest {
  std::string prefix{};
  std::string holder{};  ///< empty: any
  std::optional<LeaseState> state{};
  std::string after{};  ///< the name that the page before ended with
  std::size_t limit = 100;
};

/// A reliable task's run, as the store handed it out.
struct TaskRun {
  std::int64_t nominal_ms = 0;  ///< the time that this run is for, on the task's grid
  std::int64_t skipped = 0;     ///< grid times after it that have passed: this run stands for them
  bool reclaimed = false;       ///< an earlier process began it and did not finish
  Grant lock;                   ///< the lease "task/<name>"
};
struct TaskNotDue {
  Milliseconds retry_after{};  ///< when to ask again
};
struct TaskClaim {
  std::string name{};
  Milliseconds interval{60'000};
  Milliseconds lock_timeout{120'000};
  std::string term{};
  std::string holder{};
};
using ClaimOutcome = std::variant<TaskRun, TaskNotDue>;

struct TaskFinish {
  std::string name{};
  std::int64_t fence = 0;
  std::string term{};
  std::optional<std::string> error{};  ///< what went wrong; empty: the run is complete
  std::int64_t nominal_ms = 0;
};
struct FinishOutcome {
  bool accepted = false;  ///< false: the run was another's by then, nothing changed
  LossReason reason = LossReason::kUnknown;
  std::int64_t next_ms = 0;
};

}  // namespace tenure::leases
