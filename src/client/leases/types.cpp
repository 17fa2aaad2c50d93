#include "tenure/leases/types.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/uuid.hpp"

namespace tenure::leases {
namespace {

template <class E, std::size_t N>
using Names = std::array<std::pair<E, std::string_view>, N>;

constexpr Names<LossReason, 5> kLossReasons{{{LossReason::kReleased, "released"},
                                             {LossReason::kExpired, "expired"},
                                             {LossReason::kTakenOver, "taken-over"},
                                             {LossReason::kBroken, "broken"},
                                             {LossReason::kUnknown, "unknown"}}};
constexpr Names<HeldReason, 4> kHeldReasons{{{HeldReason::kHeld, "held"},
                                             {HeldReason::kQueued, "queued"},
                                             {HeldReason::kGuarded, "guarded"},
                                             {HeldReason::kFrozen, "frozen"}}};
constexpr Names<LeaseState, 3> kLeaseStates{
    {{LeaseState::kFree, "free"}, {LeaseState::kHeld, "held"}, {LeaseState::kBroken, "broken"}}};

template <class E, std::size_t N>
std::string_view NameOf(const Names<E, N>& names, E value) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [value](const auto& name) { return name.first == value; });
  return found == names.end() ? "unknown" : found->second;
}

template <class E, std::size_t N>
std::optional<E> ValueOf(const Names<E, N>& names, std::string_view text) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [text](const auto& name) { return name.second == text; });
  if (found == names.end()) return std::nullopt;
  return found->first;
}

bool IsNameCharacter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("._:/@-").find(c) != std::string_view::npos;
}

}  // namespace

bool IsLeaseName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::all_of(name.begin(), name.end(), IsNameCharacter);
}

std::string NewTerm() {
  base::Uuid id;
  base::RandomBytes(id.bytes.data(), id.bytes.size());
  id.bytes[6] = static_cast<std::uint8_t>(0x40 | (id.bytes[6] & 0x0F));  // version 4
  id.bytes[8] = static_cast<std::uint8_t>(0x80 | (id.bytes[8] & 0x3F));
  return id.ToString();
}

std::string_view ToText(LossReason reason) { return NameOf(kLossReasons, reason); }
std::optional<LossReason> ParseLossReason(std::string_view text) {
  return ValueOf(kLossReasons, text);
}

std::string_view ToText(HeldReason reason) { return NameOf(kHeldReasons, reason); }
std::optional<HeldReason> ParseHeldReason(std::string_view text) {
  return ValueOf(kHeldReasons, text);
}

std::string_view ToText(LeaseState state) { return NameOf(kLeaseStates, state); }

}  // namespace tenure::leases
