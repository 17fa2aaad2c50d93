#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/uuid.hpp"
#include "db/columns.hpp"
#include "db/lane_name.hpp"
#include "db/weight.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::leases {

/// What is locked: a name of a tenant. The order is that of the columns (collation "C").
struct LeaseKey {
  std::string tenant{};
  std::string name{};

  friend auto operator<=>(const LeaseKey&, const LeaseKey&) = default;
  std::size_t bytes() const { return db::BytesOf(tenant, name); }
};
inline constexpr auto kKeyColumns = db::Members(&LeaseKey::tenant, &LeaseKey::name);

struct LeaseKeyHash {
  std::size_t operator()(const LeaseKey& key) const noexcept {
    return std::hash<std::string>()(key.name) * 31 + std::hash<std::string>()(key.tenant);
  }
};

/// Under which key those who wait for a name are woken; also the payload of its notification.
std::string WakeKey(const LeaseKey& key);

/// Signalled when something may have happened of which nobody told: those who wait look again.
inline constexpr const char* kRecheckKey = "leases";

/// All changes of leases in a process go through one lane: half the transactions, each twice the
/// size, cost a third less of the machine than two lanes with half the names each
/// (docs/decisions/0008-leases.md).
inline constexpr db::LaneName kLane = db::LaneName::Shared(1);

/// How long a ticket lives without being refreshed. Its process refreshes every third of it.
inline constexpr std::int64_t kTicketMs = 3'000;

// The operations as the store gets them: decoded, with their tenant. The outcomes are those of the
// public header.

struct AcquireCommand {
  enum class Wait {
    kNo,      ///< one try
    kQueue,   ///< stand in line when it is not to be had
    kGiveUp,  ///< one last try, and leave the line
  };
  LeaseKey key{};
  base::Uuid term{};
  std::int64_t ttl_ms = 0;
  std::string holder{};
  std::string metadata{};
  Wait wait = Wait::kNo;
  std::int64_t received_boot_ms = 0;  ///< when the request came; `waited` counts from here
  std::int64_t asked_boot_ms = 0;  ///< when this question was asked: the latency counts from here

  std::size_t bytes() const { return db::BytesOf(key, holder, metadata); }
};

struct RenewCommand {
  LeaseKey key{};
  std::int64_t fence = 0;
  base::Uuid term{};
  std::optional<std::int64_t> ttl_ms{};

  std::size_t bytes() const { return key.bytes(); }
};

struct ReleaseCommand {
  /// As a fence: no grant has it. Such a release only leaves the line.
  static constexpr std::int64_t kNoGrant = 0;

  LeaseKey key{};
  base::Uuid term{};
  std::optional<std::int64_t> fence{};
  /// Only while the grant is as it was made: neither renewed nor acquired again by its term.
  bool unless_renewed = false;

  std::size_t bytes() const { return key.bytes(); }
};

struct BreakCommand {
  LeaseKey key{};
  std::string reason{};
  std::int64_t drain_ms = 0;
  bool force = false;
  std::optional<std::int64_t> fence{};  ///< only this grant, so that a repetition breaks no other

  std::size_t bytes() const { return db::BytesOf(key, reason); }
};

}  // namespace tenure::leases
