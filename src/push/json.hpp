#pragma once

#include <optional>
#include <string>

#include "base/json_writer.hpp"
#include "push/subscription.hpp"

namespace tenure::push {

/// A subscription as its tenant sees it: without secrets. `secret` is shown when there is one.
void WriteSubscription(base::JsonWriter& json, const Subscription& subscription,
                       std::int64_t now_ms, const std::string& secret = {});
std::string SubscriptionJson(const Subscription& subscription, std::int64_t now_ms,
                             const std::string& secret = {});

/// For the record: what it is, and what it was before.
std::string AuditDetail(const Subscription& subscription,
                        const std::optional<Subscription>& before);

}  // namespace tenure::push
