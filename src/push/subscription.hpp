#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/uuid.hpp"
#include "db/columns.hpp"
#include "db/weight.hpp"
#include "leases/lease.hpp"
#include "push/circuit.hpp"
#include "push/cloud_event.hpp"
#include "push/vault.hpp"

/// Subscriptions: which messages go to which endpoint. Times are milliseconds of the store's clock.
namespace tenure::push {

inline constexpr std::size_t kMaxNameBytes = 100;  ///< of A-Z a-z 0-9 . _ -
inline constexpr std::size_t kMaxHeaders = 8;
inline constexpr std::size_t kMaxHeaderNameBytes = 100;
inline constexpr std::size_t kMaxHeaderValueBytes = 1'000;
inline constexpr std::int64_t kMostInFlight = 1'000;
inline constexpr std::int64_t kDefaultInFlight = 16;
inline constexpr std::int64_t kLeastTimeoutMs = 100;
inline constexpr std::int64_t kMostTimeoutMs = 60'000;
inline constexpr std::int64_t kDefaultTimeoutMs = 10'000;
/// How long a secret that was rotated out still signs.
inline constexpr std::int64_t kOldSecretMs = 24 * 3'600'000;
/// So many of them at most; a rotation beyond drops the oldest.
inline constexpr std::size_t kMaxSecrets = 10;
inline constexpr std::size_t kMaxShownError = 200;

bool IsSubscriptionName(std::string_view name);
/// The queue (docs/queues.md) of which this is the topic; empty: of none.
std::string_view QueueOf(std::string_view topic);

using HeaderValues = std::vector<std::pair<std::string, std::string>>;

/// A secret that signs.
struct ActiveSecret {
  std::string text{};
  std::int64_t until_ms = 0;  ///< 0: it is the newest, which signs until there is another
};

/// A subscription as it is on record.
struct Subscription {
  std::string tenant{};
  std::string name{};
  base::Uuid id{};
  std::string topic{};
  std::string url{};
  std::int64_t max_in_flight = kDefaultInFlight;
  std::int64_t timeout_ms = kDefaultTimeoutMs;
  Format format = Format::kBinary;
  bool enabled = true;
  std::int64_t gone_ms = 0;
  std::string header_names{};  ///< a JSON array
  std::string secrets{};       ///< sealed
  std::string headers{};       ///< sealed, or empty
  std::int64_t revision = 0;
  std::int64_t created_ms = 0;
  std::int64_t updated_ms = 0;
  CircuitRow circuit{};
  std::int64_t last_status = 0;
  std::string last_error{};
  std::int64_t last_ms = 0;
  std::int64_t delivered = 0;
  std::int64_t failed = 0;
  // Of the lease of whoever delivers; only read.
  std::string holder{};
  std::int64_t fence = 0;
  std::int64_t expires_ms = 0;

  bool is_delivered() const { return enabled && gone_ms == 0; }
};
inline constexpr auto kSubscriptionColumns =
    db::Members(&Subscription::tenant, &Subscription::name, &Subscription::id, &Subscription::topic,
                &Subscription::url, &Subscription::max_in_flight, &Subscription::timeout_ms,
                &Subscription::format, &Subscription::enabled, &Subscription::gone_ms,
                &Subscription::header_names, &Subscription::secrets, &Subscription::headers,
                &Subscription::revision, &Subscription::created_ms, &Subscription::updated_ms,
                db::Inside(&Subscription::circuit, &CircuitRow::failures, &CircuitRow::next_ms),
                &Subscription::last_status, &Subscription::last_error, &Subscription::last_ms,
                &Subscription::delivered, &Subscription::failed, &Subscription::holder,
                &Subscription::fence, &Subscription::expires_ms);

struct SubscriptionKey {
  std::string tenant{};
  std::string name{};

  friend auto operator<=>(const SubscriptionKey&, const SubscriptionKey&) = default;
  /// Whoever has it delivers.
  leases::LeaseKey LeaseOf() const { return {tenant, "push/" + name}; }
  std::size_t bytes() const { return db::BytesOf(tenant, name); }
};
inline constexpr auto kSubscriptionKeyColumns =
    db::Members(&SubscriptionKey::tenant, &SubscriptionKey::name);

/// "ok", "backing_off", "open" or "disabled".
std::string_view StateText(const Subscription& subscription, std::int64_t now_ms);

// What is sealed, and opened again.

std::string SealSecrets(const Vault& vault, const base::Uuid& id,
                        const std::vector<ActiveSecret>& secrets);
/// Those that sign at `now_ms`, the newest first. Empty when they cannot be opened.
std::vector<ActiveSecret> OpenSecrets(const Vault& vault, const base::Uuid& id,
                                      std::string_view sealed, std::int64_t now_ms);
/// Empty when there are none.
std::string SealHeaders(const Vault& vault, const base::Uuid& id, const HeaderValues& headers);
/// Nothing when they cannot be opened.
std::optional<HeaderValues> OpenHeaders(const Vault& vault, const base::Uuid& id,
                                        std::string_view sealed);
/// Seals by the first key what another one sealed; false: that one is not there.
bool Reseal(const Vault& vault, Subscription& subscription);
/// A JSON array.
std::string HeaderNames(const HeaderValues& headers);

/// Why a header cannot be one of a subscription's; nothing: it can.
std::optional<std::string_view> HeaderProblem(std::string_view name, std::string_view value);

}  // namespace tenure::push
