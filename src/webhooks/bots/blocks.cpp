#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/printable.hpp"
#include "webhooks/bots/reader.hpp"

namespace tenure::webhooks::bots {
namespace {

constexpr std::array<std::string_view, 6> kSessionLimits = {
    "max_concurrent_sessions", "queue_depth_threshold", "session_timeout",
    "session_idle_timeout",    "session_max_duration",  "session_max_messages"};
constexpr std::array<std::string_view, 5> kServiceBus = {
    "sessions_enabled", "duplicate_detection_enabled", "duplicate_detection_window",
    "default_message_ttl", "max_size_in_megabytes"};
constexpr std::string_view kQueuePrefix = "queue_keeper_";

/// The two spellings of a name.
std::string Folded(std::string_view name) {
  std::string folded(name);
  std::replace(folded.begin(), folded.end(), '-', '_');
  return folded;
}

void AddBlock(Reader& reader, std::string_view block, const YamlNode* node,
              std::span<const std::string_view> keys, std::vector<BotEntries>& bots,
              std::span<const std::string> names) {
  if (!node) return;
  const Reader::At at{std::string(block), std::string(block), ""};
  if (node->shape != YamlNode::Shape::kMapping) {
    if (node->shape != YamlNode::Shape::kNothing)
      reader.Wrong(at, node->line, "is not a mapping of bots");
    return;
  }
  for (const YamlNode::Entry& of_bot : node->entries) {
    std::string name = Folded(of_bot.key);
    if (name.starts_with(kQueuePrefix)) name.erase(0, kQueuePrefix.size());
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const std::string& each) { return Folded(each) == name; });
    if (found == names.end())
      reader.Warn(at, of_bot.line,
                  fmt::format("{} is none of the bots of this file", config::Quoted(of_bot.key)));
    reader.Mapping({at.where, at.path, of_bot.key}, of_bot.value, keys,
                   [&](const Reader::At&, const YamlNode::Entry& entry) {
                     if (found == names.end()) return;
                     bots[static_cast<std::size_t>(found - names.begin())].blocks.push_back(&entry);
                   });
  }
}

}  // namespace

void AddBlocks(Reader& reader, const Blocks& blocks, std::vector<BotEntries>& bots,
               std::span<const std::string> names) {
  AddBlock(reader, "session_limits", blocks.session_limits, kSessionLimits, bots, names);
  AddBlock(reader, "service_bus_queues", blocks.service_bus_queues, kServiceBus, bots, names);
}

}  // namespace tenure::webhooks::bots
