#include "messages/topics/topic_cache.hpp"

#include <algorithm>

#include "messages/rules.hpp"

namespace tenure::messages {
namespace {

/// More topics than this are forgotten and learnt again.
constexpr std::size_t kMaxTopics = 100'000;
constexpr std::int64_t kLines = 2 * kPriorities;

}  // namespace

std::map<TopicCache::Key, TopicCache::Topic>& TopicCache::Topics() const {
  const std::int64_t incarnation = engine_.incarnation();
  if (incarnation != incarnation_ || topics_.size() > kMaxTopics) {
    topics_.clear();
    recent_.clear();
  }
  incarnation_ = incarnation;
  return topics_;
}

void TopicCache::Learn(const Known& known) {
  const base::Lock lock(mutex_);
  Topic& topic = Topics()[Key(known.tenant, known.topic)];
  // What was read later counts: lines may have been closed. Of two who read at the same time the
  // one that knows less may win; then somebody looks once more.
  if (topic.topic_id != 0 && known.as_of_boot_ms < topic.as_of_boot_ms) return;
  if (topic.topic_id != known.topic_id) topic.from_pos.clear();
  topic.topic_id = known.topic_id;
  topic.lines = known.lines;
  topic.as_of_boot_ms = known.as_of_boot_ms;
}

void TopicCache::Used(const Known& known) {
  Learn(known);
  const base::Lock lock(mutex_);
  auto& recent = recent_[known.tenant];
  const auto found = std::ranges::find(recent, known.topic_id, &Known::topic_id);
  if (found != recent.end())
    std::rotate(recent.begin(), found, found + 1);
  else
    recent.insert(recent.begin(), known);
  if (recent.size() > kRecent) recent.pop_back();
}

std::vector<TopicCache::Known> TopicCache::RecentOf(std::string_view tenant) const {
  const base::Lock lock(mutex_);
  Topics();
  const auto found = recent_.find(tenant);
  return found == recent_.end() ? std::vector<Known>() : found->second;
}

std::optional<std::int64_t> TopicCache::IdOf(std::string_view tenant, std::string_view topic,
                                             std::int64_t lines) const {
  const base::Lock lock(mutex_);
  const auto& topics = Topics();
  const auto found = topics.find(Key(tenant, topic));
  if (found == topics.end() || (found->second.lines & lines) != lines) return std::nullopt;
  const std::int64_t as_of_boot_ms = found->second.as_of_boot_ms;
  if (as_of_boot_ms == 0 || clock_.BootMs() - as_of_boot_ms > kValidMs) return std::nullopt;
  return found->second.topic_id;
}

std::size_t TopicCache::TurnOf(std::string_view tenant, std::string_view topic) {
  const base::Lock lock(mutex_);
  if (turns_.size() > kMaxTopics) turns_.clear();
  return turns_.try_emplace(Key(tenant, topic), turns_.size()).first->second;
}

TopicCache::Look TopicCache::LinesOf(std::string_view tenant, std::string_view topic) {
  const base::Lock lock(mutex_);
  auto& topics = Topics();
  const auto found = topics.find(Key(tenant, topic));
  Look look;
  if (found == topics.end()) {
    look.lines = {{LineOf(kDefaultPriority, 0), 0}, {LineOf(kDefaultPriority, 1), 0}};
    return look;
  }
  Topic& known = found->second;
  const std::int64_t now_boot_ms = clock_.BootMs();
  look.may_look_below = now_boot_ms >= known.spare_until_boot_ms;
  look.from_bottom = look.may_look_below && now_boot_ms >= known.next_rescan_boot_ms;
  if (look.from_bottom) known.next_rescan_boot_ms = now_boot_ms + kRescanMs;
  for (std::int64_t line = 0; line < kLines; ++line) {
    if ((known.lines >> line & 1) == 0) continue;
    const auto mark = known.from_pos.find(line);
    const bool marked = !look.from_bottom && mark != known.from_pos.end();
    look.lines.push_back({line, marked ? mark->second : 0});
  }
  return look;
}

void TopicCache::Emptied(std::string_view tenant, std::string_view topic, const Line& line) {
  const base::Lock lock(mutex_);
  auto& topics = Topics();
  const auto found = topics.find(Key(tenant, topic));
  if (found != topics.end()) found->second.from_pos[line.line] = line.from_pos;
}

void TopicCache::RescanTook(std::string_view tenant, std::string_view topic, std::int64_t took_ms) {
  const base::Lock lock(mutex_);
  auto& topics = Topics();
  const auto found = topics.find(Key(tenant, topic));
  if (found == topics.end()) return;
  found->second.spare_until_boot_ms = clock_.BootMs() + 20 * took_ms;
}

}  // namespace tenure::messages
