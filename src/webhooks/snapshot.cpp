#include "webhooks/snapshot.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "webhooks/bots/read.hpp"
#include "webhooks_sql/queries.hpp"

namespace tenure::webhooks {
namespace {

constexpr bots::Bounds kAnyHistory{.max_history_ms = bots::kAnyHistoryMs};

}  // namespace

const TenantBots* Snapshot::OfTenant(std::string_view tenant) const {
  const auto found = std::find_if(tenants.begin(), tenants.end(),
                                  [&](const TenantBots& each) { return each.tenant == tenant; });
  return found == tenants.end() ? nullptr : &*found;
}

Snapshot::Door Snapshot::FindSource(std::string_view name) const {
  for (const TenantBots& each : tenants)
    for (const bots::Source& source : each.file.sources)
      if (source.name == name) return {&each, &source};
  return {};
}

SnapshotPtr LoadSnapshot(db::Transaction& tx) {
  const auto snapshot = std::make_shared<Snapshot>();
  for (const auto row : tx.Run(sql::kLoadBots)) {
    TenantBots bots{.tenant = std::string(row.Text(0)),
                    .revision = row.Int(1),
                    .content = std::string(row.Text(2)),
                    .applied_ms = row.Int(3),
                    .person = std::string(row.Text(4)),
                    .file = {}};
    bots::Reading reading = bots::ReadJson(bots.content, kAnyHistory);
    if (!reading.mistakes.empty())
      db::ThrowBadRow(fmt::format("bot_files of revision {}: {}", bots.revision,
                                  bots::ToText(reading.mistakes.front(), "")));
    bots.file = std::move(reading.file);
    snapshot->revision = std::max(snapshot->revision, bots.revision);
    snapshot->tenants.push_back(std::move(bots));
  }
  return snapshot;
}

SnapshotPtr SnapshotCache::Get() const {
  const base::Lock lock(mutex_);
  return latest_;
}

void SnapshotCache::Put(SnapshotPtr seen) {
  if (seen->revision <= Get()->revision) return;
  if (on_change_) on_change_(seen);
  const base::Lock lock(mutex_);
  if (seen->revision > latest_->revision) latest_ = std::move(seen);
}

}  // namespace tenure::webhooks
