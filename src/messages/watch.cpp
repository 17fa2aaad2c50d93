#include "messages/watch.hpp"

#include <algorithm>
#include <set>

#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

struct Columns {
  explicit Columns(const std::set<TopicKey>& keys) {
    for (const auto& [tenant, topic] : keys) {
      tenants.push_back(tenant);
      topics.push_back(topic);
    }
  }
  std::vector<std::string_view> tenants;
  std::vector<std::string_view> topics;
};

}  // namespace

void WatchHandler::ReadItems(db::Transaction& tx, Items items) {
  WatchReply reply;
  for (const auto row : tx.Run(sql::kReadSnapshot)) reply = {row.Int(0), row.Int(1)};
  for (auto* item : items)
    if (item->request.watch.empty() && item->request.leave.empty()) item->reply = reply;
}

void WatchHandler::WriteItems(db::Transaction& tx, Items items) {
  const std::int64_t now_ms = tx.TakeClock(tx.QueueClock());
  std::set<TopicKey> watched, left;
  std::int64_t for_ms = 0;
  for (auto* item : items) {
    for (const TopicKey& each : item->request.leave) left.insert(each);
    for (const TopicKey& each : item->request.watch) watched.insert(each);
    for_ms = std::max(for_ms, item->request.for_ms);
    item->reply = WatchReply{};
  }
  for (const TopicKey& each : watched) left.erase(each);
  const Columns leave(left), watch(watched);
  tx.Queue(sql::kUnwatchTopics, leave.tenants, leave.topics, process_);
  tx.Queue(sql::kWatchTopics, watch.tenants, watch.topics, process_, now_ms + for_ms);
}

}  // namespace tenure::messages
