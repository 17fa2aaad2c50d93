#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/method.hpp"
#include "push/subscription.hpp"

namespace tenure::push {

struct FindReply {
  std::optional<Subscription> subscription{};
  std::int64_t now_ms = 0;
};
void FindSubscriptions(db::Transaction& tx, db::Items<SubscriptionKey, FindReply> items);

struct ListRequest {
  std::string tenant{};
  std::string after{};
  std::int64_t limit = 100;

  std::size_t bytes() const { return db::BytesOf(tenant, after); }
};
db::Transaction::Pending QueueSubscriptions(db::Transaction& tx, const ListRequest& request,
                                            std::int64_t rows);
Subscription ReadSubscription(const db::Rows::Row& row);

/// What a process that delivers must know of each subscription that is delivered.
struct Sighting {
  SubscriptionKey key{};
  base::Uuid id{};
  std::int64_t revision = 0;
  std::int64_t expires_ms = 0;  ///< of the lease of whoever delivers it
};
/// More than that are not delivered.
inline constexpr std::int64_t kMostDelivered = 10'000;
struct Surroundings {
  std::vector<Sighting> subscriptions{};
  std::int64_t now_ms = 0;
};
Surroundings LookAround(db::Transaction& tx, std::int64_t now_ms);

struct Figures {
  std::int64_t subscriptions = 0;
  std::int64_t disabled = 0;
  std::int64_t backing_off = 0;
  std::int64_t open = 0;
  std::vector<SubscriptionKey> open_ones{};  ///< the first thousand
};
Figures CountSubscriptions(db::Transaction& tx, std::int64_t now_ms);

/// Subscriptions that are to be sealed anew.
struct SealedRequest {
  std::string prefix{};  ///< Vault::Prefix
  SubscriptionKey after{};
  std::int64_t limit = 100;

  std::size_t bytes() const { return after.bytes() + prefix.size(); }
};
db::Transaction::Pending QueueSealed(db::Transaction& tx, const SealedRequest& request,
                                     std::int64_t rows);
SubscriptionKey ReadSealed(const db::Rows::Row& row);

/// What came of deliveries since the last report.
struct Report {
  SubscriptionKey key{};
  base::Uuid id{};
  std::int64_t delivered = 0;
  std::int64_t failed = 0;
  std::int64_t last_status = 0;
  std::string last_error{};
  bool has_last = false;
  std::int64_t last_ago_ms = 0;  ///< has_last: how long ago that was
  std::int64_t failures = 0;     ///< as Circuit has them
  std::int64_t next_in_ms = 0;   ///< how long nothing is sent from now on

  std::size_t bytes() const { return key.bytes() + last_error.size(); }
};
struct ReportReply {};
/// REQUIRES: the caller's fence is that of the lease, so that who has lost it reports nothing.
void ReportDeliveries(db::Transaction& tx, db::Items<Report, ReportReply> items);

}  // namespace tenure::push
