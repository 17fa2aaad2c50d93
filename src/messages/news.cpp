#include "messages/news.hpp"

#include <vector>

#include "messages/message.hpp"
#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

/// What is due later than this is found by the ordinary looks of whoever promotes.
constexpr std::int64_t kSoonMs = 60'000;

}  // namespace

void News::Add(std::string_view tenant, std::string_view topic, std::int64_t due_ms,
               std::int64_t now_ms) {
  if (due_ms <= now_ms) {
    topics_.emplace(tenant, topic);
    return;
  }
  timers_ = true;
  soon_ |= due_ms <= now_ms + kSoonMs;
}

void News::Tell(db::Transaction& tx, std::string_view process, std::int64_t now_ms) const {
  std::vector<std::string_view> tenants, topics;
  for (const auto& [tenant, topic] : topics_) {
    tenants.push_back(tenant);
    topics.push_back(topic);
  }
  if (soon_) {
    tenants.emplace_back();
    topics.emplace_back();
  }
  tx.Queue(sql::kTellWaiters, tenants, topics, process, now_ms);
}

void News::Signal(wake::Registry& wake) const {
  for (const auto& [tenant, topic] : topics_) wake.SignalAll(WakeKey(tenant, topic));
  if (timers_) wake.SignalAll(kTimerKey);
}

}  // namespace tenure::messages
