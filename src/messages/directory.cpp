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
  if (incarnation != incarnation_ || topics_.size() > kMaxTopics) topics_.clear();
  incarnation_ = incarnation;
  return topics_;
}

void Directory::Learn(const Known& known) {
  const std::lock_guard lock(mutex_);
  Topic& topic = Topics()[Key(known.tenant, known.topic)];
  topic.topic_id = known.topic_id;
  topic.lines |= known.lines;
}

std::optional<std::int64_t> Directory::IdOf(std::string_view tenant, std::string_view topic,
                                            std::int64_t lines) const {
  const std::lock_guard lock(mutex_);
  const auto& topics = Topics();
  const auto found = topics.find(Key(tenant, topic));
  if (found == topics.end() || (found->second.lines & lines) != lines) return std::nullopt;
  return found->second.topic_id;
}

std::vector<Directory::Line> Directory::LinesOf(std::string_view tenant, std::string_view topic,
                                                bool from_bottom) const {
  const std::lock_guard lock(mutex_);
  auto& topics = Topics();
  const auto found = topics.find(Key(tenant, topic));
  if (found == topics.end())
    return {{LineOf(kDefaultPriority, 0), 0}, {LineOf(kDefaultPriority, 1), 0}};
  std::vector<Line> lines;
  for (std::int64_t line = 0; line < kLines; ++line) {
    if ((found->second.lines >> line & 1) == 0) continue;
    const auto mark = found->second.from_pos.find(line);
    const bool marked = !from_bottom && mark != found->second.from_pos.end();
    lines.push_back({line, marked ? mark->second : 0});
  }
  return lines;
}

void Directory::Emptied(std::string_view tenant, std::string_view topic, const Line& line) {
  const std::lock_guard lock(mutex_);
  auto& topics = Topics();
  const auto found = topics.find(Key(tenant, topic));
  if (found != topics.end()) found->second.from_pos[line.line] = line.from_pos;
}

bool Directory::TakeRescan() {
  const std::lock_guard lock(mutex_);
  const std::int64_t now_boot_ms = clock_.BootMs();
  if (now_boot_ms < std::max(next_rescan_boot_ms_, spare_until_boot_ms_)) return false;
  next_rescan_boot_ms_ = now_boot_ms + kRescanMs;
  return true;
}

bool Directory::MayRescan() const {
  const std::lock_guard lock(mutex_);
  return clock_.BootMs() >= spare_until_boot_ms_;
}

void Directory::RescanTook(std::int64_t micros) {
  const std::lock_guard lock(mutex_);
  spare_until_boot_ms_ = clock_.BootMs() + 20 * micros / 1'000;
}

}  // namespace tenure::messages
