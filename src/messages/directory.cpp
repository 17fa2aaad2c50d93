#include "messages/directory.hpp"

#include <algorithm>

#include "messages/rules.hpp"

namespace tenure::messages {
namespace {

/// More topics than this are forgotten and learnt again.
constexpr std::size_t kMaxTopics = 100'000;
constexpr std::int64_t kLines = 2 * kPriorities;

}  // namespace

std::map<Directory::Key, Directory::Topic>& Directory::Topics() const {
  const std::int64_t incarnation = engine_.incarnation();
  if (incarnation != incarnation_ || topics_.size() > kMaxTopics) {
    topics_.clear();
    recent_.clear();
  }
  incarnation_ = incarnation;
  return topics_;
}

void Directory::Learn(const Known& known) {
  const std::lock_guard lock(mutex_);
  Topic& topic = Topics()[Key(known.tenant, known.topic)];
  topic.topic_id = known.topic_id;
  topic.lines |= known.lines;
}

void Directory::Used(const Known& known) {
  Learn(known);
  const std::lock_guard lock(mutex_);
  auto& recent = recent_[known.tenant];
  const auto found = std::ranges::find(recent, known.topic_id, &Known::topic_id);
  if (found != recent.end())
    std::rotate(recent.begin(), found, found + 1);
  else
    recent.insert(recent.begin(), known);
  if (recent.size() > kRecent) recent.pop_back();
}

std::vector<Directory::Known> Directory::RecentOf(std::string_view tenant) const {
  const std::lock_guard lock(mutex_);
  Topics();
  const auto found = recent_.find(tenant);
  return found == recent_.end() ? std::vector<Known>() : found->second;
}

std::optional<std::int64_t> Directory::IdOf(std::string_view tenant, std::string_view topic,
                                            std::int64_t lines) const {
  const std::lock_guard lock(mutex_);
  const auto& topics = Topics();
  const auto found = topics.find(Key(tenant, topic));
  if (found == topics.end() || (found->second.lines & lines) != lines) return std::nullopt;
  return found->second.topic_id;
}

std::size_t Directory::TurnOf(std::string_view tenant, std::string_view topic) {
  const std::lock_guard lock(mutex_);
  if (turns_.size() > kMaxTopics) turns_.clear();
  return turns_.try_emplace(Key(tenant, topic), turns_.size()).first->second;
}

Directory::Look Directory::LinesOf(std::string_view tenant, std::string_view topic) {
  const std::lock_guard lock(mutex_);
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

void Directory::Emptied(std::string_view tenant, std::string_view topic, const Line& line) {
  const std::lock_guard lock(mutex_);
  auto& topics = Topics();
  const auto found = topics.find(Key(tenant, topic));
  if (found != topics.end()) found->second.from_pos[line.line] = line.from_pos;
}

void Directory::RescanTook(std::string_view tenant, std::string_view topic, std::int64_t took_ms) {
  const std::lock_guard lock(mutex_);
  auto& topics = Topics();
  const auto found = topics.find(Key(tenant, topic));
  if (found == topics.end()) return;
  found->second.spare_until_boot_ms = clock_.BootMs() + 20 * took_ms;
}

}  // namespace tenure::messages
