#include "webhooks/full_topics.hpp"

#include "webhooks/event_columns.hpp"
#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {
namespace {

constexpr std::int64_t kMegabyteOfTopics = 1 << 20;

/// 0: it has none, or keeps order.
std::int64_t LimitOf(const bots::Bot& bot) {
  if (bot.routing.scope != rules::Scope::kNone) return 0;
  return bot.limits.max_size_in_megabytes * kMegabyteOfTopics;
}

}  // namespace

void ReadTopicSizes(db::Transaction& tx, db::Items<TopicSizesRequest, TopicSizesReply> items) {
  for (auto* item : items) {
    TopicSizesReply& reply = item->reply.emplace();
    for (const auto& [tenant, bot] : item->request.bots) {
      const std::string topic = TopicOf(bot);
      const db::Rows rows =
          tx.Run(sql::kReadTopicSize, std::string_view(tenant), std::string_view(topic));
      reply.bytes.push_back(rows[0].Int(0));
    }
  }
}

TopicSizesRequest FullTopics::Limited(const Snapshot& bots) {
  TopicSizesRequest request;
  for (const TenantBots& tenant : bots.tenants)
    for (const bots::Bot& bot : tenant.file.bots)
      if (LimitOf(bot) > 0) request.bots.emplace_back(tenant.tenant, bot.name);
  return request;
}

void FullTopics::Learn(const Snapshot& bots, const TopicSizesRequest& asked,
                       const TopicSizesReply& sizes) {
  std::set<Name> full;
  for (std::size_t i = 0; i < asked.bots.size(); ++i) {
    const TenantBots* const tenant = bots.OfTenant(asked.bots[i].first);
    if (!tenant) continue;
    for (const bots::Bot& bot : tenant->file.bots)
      if (bot.name == asked.bots[i].second && LimitOf(bot) > 0 && sizes.bytes[i] >= LimitOf(bot))
        full.insert(asked.bots[i]);
  }
  const base::Lock lock(mutex_);
  full_ = std::move(full);
}

bool FullTopics::Has(const std::string& tenant, const std::string& bot) const {
  const base::Lock lock(mutex_);
  return !full_.empty() && full_.contains({tenant, bot});
}

}  // namespace tenure::webhooks
