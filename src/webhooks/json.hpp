#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/page.hpp"
#include "webhooks/apply.hpp"
#include "webhooks/delivery.hpp"
#include "webhooks/rules/route.hpp"
#include "webhooks/secrets.hpp"
#include "webhooks/snapshot.hpp"

namespace tenure::webhooks {

// The answers, as openapi.json has them.

std::string EventJson(const EventRow& event);
/// {"items": […], "next_cursor": …}
std::string EventsJson(const db::Page<EventRow>& page);
/// `bots` null: the tenant has none.
std::string BotsJson(const TenantBots* bots);
std::string AppliedJson(const ApplyReply& reply, const std::vector<std::string>& warnings);
std::string SourcesJson(const TenantBots* bots, const SecretKeeper& secrets);
/// Which bots get an event, and where: `bots` null: the tenant has none.
std::string ExplainedJson(const rules::Event& event, const TenantBots* bots);

}  // namespace tenure::webhooks
