#include "messages/waiting/notifications.hpp"

#include <algorithm>

#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

/// What is due later than this is found by the ordinary looks of whoever promotes.
constexpr std::int64_t kSoonMs = 60'000;

}  // namespace

void Notifications::Add(std::string_view tenant, std::string_view topic, std::int64_t due_ms,
                        std::int64_t now_ms) {
  if (due_ms <= now_ms) {
    topics_.emplace(tenant, topic);
    return;
  }
  timers_ = true;
  soon_ |= due_ms <= now_ms + kSoonMs;
}

void Notifications::Tell(db::Transaction& tx, std::string_view process, std::int64_t now_ms) const {
  using Topic = std::pair<std::string_view, std::string_view>;
  std::vector<Topic> told(topics_.begin(), topics_.end());
  if (soon_) told.emplace_back();
  tx.Queue(sql::kTellWaiters, db::Columns(told, &Topic::first, &Topic::second), process, now_ms);
}

void Notifications::Signal(wake::Registry& wake) const {
  for (const auto& [tenant, topic] : topics_) wake.SignalAll(WakeKey(tenant, topic));
  if (timers_) wake.SignalAll(kTimerKey);
}

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
  tx.Queue(sql::kUnwatchTopics, db::Columns(left, kTopicColumns), process_);
  tx.Queue(sql::kWatchTopics, db::Columns(watched, kTopicColumns), process_, now_ms + for_ms);
}

}  // namespace tenure::messages
