#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/page.hpp"
#include "webhooks/apply.hpp"
#include "webhooks/delivery.hpp"
#include "webhooks/hooks.hpp"
#include "webhooks/reads.hpp"
#include "webhooks/replay.hpp"
#include "webhooks/rules/route.hpp"
#include "webhooks/secrets.hpp"
#include "webhooks/snapshot.hpp"

namespace tenure::webhooks {

// The answers, as openapi.json has them.

/// With where its messages are. REQUIRES: it was found.
std::string FoundJson(const FindReply& found);
/// {"items": […], "next_cursor": …}
std::string EventsJson(const db::Page<EventRow>& page);
/// `bots` null: the tenant has none.
std::string BotsJson(const TenantBots* bots);
std::string AppliedJson(const ApplyReply& reply, const std::vector<std::string>& warnings);
/// `seen`: of its sources.
std::string SourcesJson(const bots::File& file, const SecretKeeper& secrets,
                        const HooksReply& seen);
/// {"found": …, "changed": …, "next_cursor": …}
std::string ReplayedJson(const ReplayReply& reply);
/// Which bots get an event, and where: `bots` null: the tenant has none.
std::string ExplainedJson(const rules::Event& event, const TenantBots* bots);

}  // namespace tenure::webhooks
