#include "inbox/ledger.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tenure::inbox {
namespace {

/// Fences of incarnation i start at i x 2^40; those of the first one at 1.
constexpr int kIncarnationBits = 40;
constexpr std::int64_t kFirstBackOffMs = 1'000;
constexpr std::int64_t kLongestBackOffMs = 60'000;
/// How soon to ask again when somebody's transaction is about to decide: nobody tells of its end.
constexpr std::int64_t kBusyMs = 50;

std::int64_t FirstFenceOf(std::int64_t incarnation) {
  return incarnation > 1 ? incarnation << kIncarnationBits : 0;
}

/// FNV-1a: the same in every process.
std::uint64_t Mix(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001B3ULL;
  return (hash ^ 0xFF) * 0x100000001B3ULL;  // no byte of UTF-8: "ab", "c" is not "a", "bc"
}

}  // namespace

std::string_view ToText(BeginOutcome::Kind kind) {
  switch (kind) {
    case BeginOutcome::Kind::kProcess:
      return "process";
    case BeginOutcome::Kind::kInProgress:
      return "in_progress";
    case BeginOutcome::Kind::kDone:
      return "done";
    case BeginOutcome::Kind::kConflict:
      return "conflict";
    case BeginOutcome::Kind::kDead:
      return "dead";
  }
  return "";
}

std::string_view ToText(State state) {
  switch (state) {
    case State::kNew:
      return "new";
    case State::kClaimed:
      return "claimed";
    case State::kRetrying:
      return "retrying";
    case State::kDone:
      return "done";
    case State::kDead:
      return "dead";
  }
  return "";
}

std::int64_t BackOffMs(const MessageKey& key, std::int64_t attempt) {
  constexpr std::int64_t kDoublings = 6;  // 64 s: beyond the longest
  const std::int64_t usual_ms = std::min(
      kLongestBackOffMs, kFirstBackOffMs << std::clamp<std::int64_t>(attempt - 1, 0, kDoublings));
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const std::string* part : {&key.tenant, &key.source, &key.message_id})
    hash = Mix(hash, *part);
  hash = Mix(hash, std::to_string(attempt));
  const auto jitter_ms = static_cast<std::int64_t>((hash >> 16) % 1'000) * usual_ms / 2'000;
  return std::min(kLongestBackOffMs, usual_ms - usual_ms / 4 + jitter_ms);
}

Ledger::Ledger(MessageKey key, Loaded loaded, const Limits& limits, std::int64_t now_ms)
    : key_(std::move(key)), loaded_(std::move(loaded)), limits_(limits), now_ms_(now_ms) {}

bool Ledger::IsClaimLive() const {
  return loaded_.row.state == State::kClaimed && loaded_.row.lease_until_ms > now_ms_;
}

bool Ledger::LearnsHash(const BeginCommand& command) const {
  return loaded_.row.state != State::kNew && loaded_.row.hash.empty() && !command.hash.empty();
}

std::optional<BeginOutcome> Ledger::Answer(const BeginCommand& command) const {
  const MessageRow& row = loaded_.row;
  if (!row.hash.empty() && !command.hash.empty() && row.hash != command.hash) {
    BeginOutcome conflict;
    conflict.kind = BeginOutcome::Kind::kConflict;
    conflict.hash = row.hash;
    return conflict;
  }
  switch (row.state) {
    case State::kNew:
      return std::nullopt;
    case State::kClaimed:
      if (!IsClaimLive()) return std::nullopt;
      // The answer was lost: the same claim, until the same time.
      if (command.term && row.term == command.term) return Claimed();
      return Wait(row.lease_until_ms, false);
    case State::kRetrying:
      if (row.not_before_ms <= now_ms_) return std::nullopt;
      return Wait(row.not_before_ms, true);
    case State::kDone: {
      BeginOutcome done;
      done.kind = BeginOutcome::Kind::kDone;
      done.result = row.result;
      return done;
    }
    case State::kDead:
      return Dead();
  }
  return std::nullopt;
}

BeginOutcome Ledger::Begin(const BeginCommand& command) {
  if (loaded_.locked && LearnsHash(command)) {
    loaded_.row.hash = command.hash;
    changed_ = true;
  }
  if (auto answer = Answer(command)) return *answer;
  // Whoever has the row hands it out, completes it or removes it right now.
  if (!loaded_.locked) return Wait(now_ms_ + kBusyMs, false);
  return HandOut(command);
}

BeginOutcome Ledger::HandOut(const BeginCommand& command) {
  MessageRow& row = loaded_.row;
  Touch();
  if (row.state == State::kClaimed && ++row.crashes >= limits_.budget.max_crashes()) {
    row.state = State::kDead;
    row.error = fmt::format("{} claims ended without a word", row.crashes);
    BeginOutcome dead = Dead();
    dead.died = true;
    return dead;
  }
  if (row.state == State::kNew) {
    row.received_ms = now_ms_;
    row.hash = command.hash;
  }
  row.state = State::kClaimed;
  row.fence = std::max({row.fence, loaded_.floor, FirstFenceOf(limits_.incarnation)}) + 1;
  row.term = command.term;
  row.lease_until_ms = now_ms_ + command.lease_ms;
  row.not_before_ms = 0;
  return Claimed();
}

BeginOutcome Ledger::Wait(std::int64_t until_ms, bool retrying) const {
  BeginOutcome wait;
  wait.kind = BeginOutcome::Kind::kInProgress;
  wait.until_ms = until_ms;
  wait.retrying = retrying;
  return wait;
}

BeginOutcome Ledger::Claimed() const {
  const MessageRow& row = loaded_.row;
  BeginOutcome process;
  process.kind = BeginOutcome::Kind::kProcess;
  process.fence = row.fence;
  process.until_ms = row.lease_until_ms;
  process.attempts = row.attempts;
  process.crashes = row.crashes;
  return process;
}

BeginOutcome Ledger::Dead() const {
  BeginOutcome dead;
  dead.kind = BeginOutcome::Kind::kDead;
  dead.error = loaded_.row.error;
  return dead;
}

FinishOutcome Ledger::Finished(FinishOutcome::Kind kind) const {
  const MessageRow& row = loaded_.row;
  FinishOutcome outcome;
  outcome.kind = kind;
  outcome.state = row.state;
  outcome.fence = row.fence;
  outcome.attempts = row.attempts;
  if (row.state == State::kClaimed) outcome.until_ms = row.lease_until_ms;
  if (row.state == State::kRetrying) outcome.until_ms = row.not_before_ms;
  return outcome;
}

std::optional<FinishOutcome> Ledger::WhyNot(std::int64_t fence, bool completes) const {
  const MessageRow& row = loaded_.row;
  using Kind = FinishOutcome::Kind;
  if (row.state == State::kNew) return Finished(Kind::kUnknown);
  if (row.fence != fence) return Finished(Kind::kStale);
  // A claim whose lease has passed may still end it: the fence says that nobody took over.
  if (row.state == State::kClaimed) {
    if (!loaded_.locked) return Finished(Kind::kBusy);
    return std::nullopt;
  }
  // The answer was lost, and this is the same request again; or the claim had another end.
  return Finished((row.state == State::kDone) == completes ? Kind::kAccepted : Kind::kStale);
}

FinishOutcome Ledger::Complete(const CompleteCommand& command) {
  if (auto why_not = WhyNot(command.fence, true)) return *why_not;
  MessageRow& row = loaded_.row;
  row.state = State::kDone;
  row.result = command.result;
  row.error.clear();
  Touch();
  return Finished(FinishOutcome::Kind::kAccepted);
}

FinishOutcome Ledger::Fail(const FailCommand& command) {
  if (auto why_not = WhyNot(command.fence, false)) return *why_not;
  MessageRow& row = loaded_.row;
  ++row.attempts;
  row.error = command.error;
  const bool spent = row.attempts >= limits_.budget.max_attempts;
  row.state = spent ? State::kDead : State::kRetrying;
  row.not_before_ms = spent ? 0 : now_ms_ + BackOffMs(key_, row.attempts);
  Touch();
  FinishOutcome outcome = Finished(FinishOutcome::Kind::kAccepted);
  outcome.died = spent;
  return outcome;
}

void Ledger::Touch() {
  loaded_.row.updated_ms = now_ms_;
  changed_ = true;
}

}  // namespace tenure::inbox
