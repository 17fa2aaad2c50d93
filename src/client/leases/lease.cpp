#include "tenure/leases/lease.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "client/leases/hold.hpp"
#include "client/leases/lease_runtime.hpp"

namespace tenure::leases {
namespace {

const std::string kNothing;

}  // namespace

std::string_view ToText(HoldState state) {
  switch (state) {
    case HoldState::kHeld:
      return "held";
    case HoldState::kJeopardy:
      return "jeopardy";
    case HoldState::kLost:
      return "lost";
    case HoldState::kReleased:
      return "released";
  }
  return "lost";
}

Lease::Lease(std::shared_ptr<internal::Hold> hold) : hold_(std::move(hold)) {}

Lease::~Lease() {
  if (hold_) hold_->runtime->Abandon(hold_);
}

Lease::Lease(Lease&&) noexcept = default;

Lease& Lease::operator=(Lease&& other) noexcept {
  Lease old(std::exchange(hold_, nullptr));  // released by its destructor
  hold_ = std::exchange(other.hold_, nullptr);
  return *this;
}

bool Lease::Held() const noexcept { return hold_ && hold_->Held(); }

Milliseconds Lease::Remaining() const noexcept {
  if (!hold_) return Milliseconds(0);
  const std::int64_t now_ms = hold_->clock.NowMs();
  const std::int64_t until_ms = hold_->valid_until_ms();
  return Milliseconds(until_ms > now_ms ? until_ms - now_ms : 0);
}

void Lease::ThrowIfLost() const {
  if (Held()) return;
  const auto lost = loss();
  throw LostError(fmt::format("lease {} is not held any more: {}", name(),
                              lost ? lost->detail : std::string(ToText(state()))),
                  {.lease = name(), .fence = fence()});
}

HoldState Lease::state() const {
  if (!hold_) return HoldState::kReleased;
  hold_->runtime->table().ExpireIfOverdue(hold_);
  return hold_->runtime->table().With([this] { return hold_->keeper.state(); });
}

const std::string& Lease::name() const { return hold_ ? hold_->name : kNothing; }
std::int64_t Lease::fence() const noexcept { return hold_ ? hold_->fence : 0; }
const std::string& Lease::term() const { return hold_ ? hold_->term : kNothing; }

Grant Lease::grant() const {
  if (!hold_) return {};
  return hold_->runtime->table().With([this] { return hold_->grant; });
}

std::optional<Lost> Lease::loss() const {
  if (!hold_) return std::nullopt;
  hold_->runtime->table().ExpireIfOverdue(hold_);
  return hold_->runtime->table().With([this] { return hold_->loss; });
}

std::stop_token Lease::token() const { return hold_ ? hold_->stop.get_token() : std::stop_token(); }

bool Lease::TryRenewNow() { return hold_ && hold_->runtime->RenewNow(hold_); }

ReleaseOutcome Lease::Close() {
  if (!hold_) return {.released = false, .reason = LossReason::kReleased};
  return hold_->runtime->Close(hold_);
}

void Lease::Forget() noexcept {
  if (hold_) hold_->runtime->Forget(hold_);
  hold_ = nullptr;
}

}  // namespace tenure::leases
