#include "leases/explain.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace tenure::leases {
namespace {

using explain::Cause;
using explain::Explanation;
using explain::Shown;

std::string AgoText(const LeaseView& lease, std::int64_t ms) {
  return fmt::format("{} ago", base::SpanText(std::max<std::int64_t>(0, lease.now_ms - ms)));
}
std::string LeftText(const LeaseView& lease, std::int64_t ms) {
  return base::SpanText(std::max<std::int64_t>(0, ms - lease.now_ms));
}

std::string HolderText(const std::string& holder) {
  return holder.empty() ? "somebody without a name" : Shown(holder);
}

std::string WaitingText(std::int64_t waiters) {
  return waiters == 0   ? "Nobody waits for it."
         : waiters == 1 ? "One waits for it."
                        : fmt::format("{} wait for it.", waiters);
}

/// Whose transaction it is, as far as that is known.
std::string GuardText(const LeaseView& lease) {
  // One that was prepared for two-phase commit has no process.
  std::string text = lease.guard->pid == 0 ? "without a process (see pg_prepared_xacts)"
                                           : fmt::format("process {}", lease.guard->pid);
  if (!lease.guard->user.empty()) text += fmt::format(" of user {}", Shown(lease.guard->user));
  if (lease.guard->since_ms > 0)
    text += fmt::format(", begun {}", AgoText(lease, lease.guard->since_ms));
  return text;
}

Cause WaitersCause(const LeaseView& lease) {
  return {.code = "waiting", .text = WaitingText(lease.waiters)};
}

/// A deadline that no renewal can have given: the store's clock has gone back since.
void AddClock(Explanation& out, const LeaseView& lease) {
  if (lease.expires_at_ms - lease.now_ms <= lease.ttl.count()) return;
  out.Because(
      {.code = "clock-went-back",
       .text = fmt::format(
           "Its deadline is further ahead than its ttl of {}: it was granted or renewed before the "
           "store's clock went back. Once its holder has stopped, `tenure lease break {} --force "
           "--reason \"the clock went back\"` frees it.",
           base::DurationText(std::max<std::int64_t>(lease.ttl.count(), 0)),
           explain::Word(lease.name))});
}

explain::Action BreakAct(const LeaseView& lease, bool force) {
  return {.act = "lease.break",
          .title = fmt::format("{} {}", force ? "Free" : "Break", Shown(lease.name)),
          .scope = "admin",
          .danger = force,
          .method = "POST",
          .path = fmt::format("/api/v1/leases/{}/break", explain::Segment(lease.name)),
          .body = fmt::format(R"({{"fence":{}{}}})", lease.fence, force ? R"(,"force":true)" : ""),
          .command = fmt::format("tenure lease break {}{} --reason …", explain::Word(lease.name),
                                 force ? " --force" : "")};
}

void ExplainHeld(Explanation& out, const LeaseView& lease) {
  out.state = "held";
  out.Because(
      {.code = "held",
       .text = fmt::format("{} is held by {} since {} ({}), with fence {}, and was renewed {}.",
                           Shown(lease.name), HolderText(lease.holder),
                           base::UtcText(lease.granted_at_ms), AgoText(lease, lease.granted_at_ms),
                           lease.fence, AgoText(lease, lease.renewed_at_ms)),
       .since_ms = lease.granted_at_ms,
       .until_ms = lease.expires_at_ms});
  out.Because(WaitersCause(lease));
  AddClock(out, lease);
  if (lease.guard)
    out.Because({.code = "guarded",
                 .text = fmt::format("A database transaction that checked its fence is open ({}): "
                                     "until its end it cannot be broken.",
                                     GuardText(lease)),
                 .since_ms = lease.guard->since_ms});
  else
    out.actions = {BreakAct(lease, false), BreakAct(lease, true)};
  out.next = {
      fmt::format("Without a renewal it is free in {}{}.", LeftText(lease, lease.expires_at_ms),
                  lease.waiters > 0 ? ", and whoever waits longest gets it" : ""),
      lease.expires_at_ms};
}

void ExplainBroken(Explanation& out, const LeaseView& lease) {
  out.state = "broken";
  out.Because(
      {.code = "broken",
       .text = fmt::format("An operator broke the grant of {} to {} ({}): it is not renewed "
                           "any more.",
                           Shown(lease.name), HolderText(lease.holder),
                           explain::Quoted(lease.break_reason)),
       .since_ms = lease.granted_at_ms,
       .until_ms = lease.expires_at_ms});
  out.Because(WaitersCause(lease));
  if (!lease.guard) out.actions = {BreakAct(lease, true)};
  out.next = {
      fmt::format("It can be granted again in {}, at {}, or as soon as its holder releases it.",
                  LeftText(lease, lease.expires_at_ms), base::UtcText(lease.expires_at_ms)),
      lease.expires_at_ms};
}

void ExplainFrozen(Explanation& out, const LeaseView& lease) {
  out.state = "frozen";
  out.Because({.code = "frozen",
               .text = fmt::format("Nobody holds {}, but the store was restored or promoted, and "
                                   "somebody whom it has forgotten may still hold it.",
                                   Shown(lease.name)),
               .until_ms = lease.frozen_until_ms});
  out.Because(WaitersCause(lease));
  out.next = {
      fmt::format("It is not granted before {} (in {}). Where you know that nobody holds it, "
                  "`tenure admin thaw` ends that.",
                  base::UtcText(lease.frozen_until_ms), LeftText(lease, lease.frozen_until_ms)),
      lease.frozen_until_ms};
}

/// Of a name that nobody holds and that is not frozen.
void ExplainFree(Explanation& out, const LeaseView& lease) {
  const std::string name = Shown(lease.name);
  if (lease.guard) {
    out.state = lease.waiters > 0 ? "queued" : "guarded";
    out.Because({.code = "guarded",
                 .text = fmt::format("Nobody holds {}, but a database transaction that checked its "
                                     "last fence is open: {}.",
                                     name, GuardText(lease)),
                 .since_ms = lease.guard->since_ms});
    out.Because(WaitersCause(lease));
    out.next = {"The next grant has to wait for the end of that transaction.", 0};
  } else if (lease.waiters > 0) {
    out.state = "queued";
    out.Because({.code = "queued", .text = fmt::format("{} is free.", name)});
    out.Because(WaitersCause(lease));
    out.next = {fmt::format("Whoever waits longest gets it at once; who asks without waiting does "
                            "not. One whose process is gone loses its place after {}.",
                            base::DurationText(kTicketMs)),
                0};
  } else {
    out.state = "free";
    out.Because({.code = "free", .text = fmt::format("{} is free.", name)});
    out.next = {"Whoever asks next gets it.", 0};
  }
}

std::string EndText(const PastGrant& grant) {
  switch (grant.reason) {
    case LossReason::kReleased:
      return "released it";
    case LossReason::kExpired:
    case LossReason::kTakenOver:
      return "did not renew it in time";
    case LossReason::kBroken:
      return fmt::format(
          "lost it to an operator{}",
          grant.detail.empty() ? "" : fmt::format(" ({})", explain::Quoted(grant.detail)));
    default:
      return "had it";
  }
}

void AddBefore(Explanation& out, const LeaseView& lease) {
  if (lease.history.empty()) return;
  const PastGrant& last = lease.history.front();
  const std::int64_t held_ms = std::max<std::int64_t>(0, last.ended_at_ms - last.granted_at_ms);
  out.Because({.code = "before",
               .text = fmt::format("Before, {} had it for {} and {} {}.", HolderText(last.holder),
                                   base::SpanText(held_ms), EndText(last),
                                   AgoText(lease, last.ended_at_ms)),
               .since_ms = last.granted_at_ms,
               .until_ms = last.ended_at_ms});
}

}  // namespace

Explanation Explain(const LeaseView& lease) {
  Explanation out{.kind = "lease", .id = lease.name, .docs = "docs/leases.md"};
  if (lease.state == LeaseState::kHeld)
    ExplainHeld(out, lease);
  else if (lease.state == LeaseState::kBroken)
    ExplainBroken(out, lease);
  else if (lease.frozen_until_ms > 0)
    ExplainFrozen(out, lease);
  else
    ExplainFree(out, lease);
  AddBefore(out, lease);
  return out;
}

}  // namespace tenure::leases
