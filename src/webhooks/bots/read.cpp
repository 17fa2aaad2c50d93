#include "webhooks/bots/read.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/json_text.hpp"
#include "base/json_view.hpp"
#include "base/tenant.hpp"
#include "base/utf8.hpp"
#include "config/printable.hpp"
#include "webhooks/bots/reader.hpp"

namespace tenure::webhooks::bots {
namespace {

constexpr std::size_t kMaxDepth = 16;  // far beyond any option
constexpr std::array<std::string_view, 7> kSections = {
    "tenant", "sources", "defaults", "bots", "bot_config", "session_limits", "service_bus_queues"};

/// The sections of a file; null: it has none.
struct Sections {
  const YamlNode* tenant = nullptr;
  const YamlNode* sources = nullptr;
  const YamlNode* defaults = nullptr;
  const YamlNode* bots = nullptr;
  const YamlNode* bot_config = nullptr;
  Blocks blocks;

  const YamlNode*& Of(std::string_view name) {
    if (name == "tenant") return tenant;
    if (name == "sources") return sources;
    if (name == "defaults") return defaults;
    if (name == "bots") return bots;
    if (name == "bot_config") return bot_config;
    if (name == "session_limits") return blocks.session_limits;
    return blocks.service_bus_queues;
  }
};

void ReadTenant(Reader& reader, const YamlNode* node) {
  if (!node) return;
  reader.reading.names_tenant = true;
  const Reader::At at{"", "", "tenant"};
  const auto text = reader.Text(at, *node);
  const auto tenant = text ? base::CanonicalTenant(*text) : std::nullopt;
  if (tenant)
    reader.reading.file.tenant = *tenant;
  else if (text)
    reader.Wrong(at, node->line, fmt::format("{} is not a tenant", config::Quoted(*text)));
}

void ReadSources(Reader& reader, const YamlNode* node) {
  if (!node) return;
  reader.List({"", "", "sources"}, *node, kMaxSources,
              [&](const Reader::At& item, const YamlNode& source) {
                ReadSource(reader, {item.key, item.key, ""}, source);
              });
}

std::string NameOf(const YamlNode& bot) {
  for (const YamlNode::Entry& entry : bot.entries)
    if (entry.key == "name") return entry.value.scalar;
  return {};
}

std::vector<const YamlNode::Entry*> EntriesOf(const YamlNode& node) {
  std::vector<const YamlNode::Entry*> entries;
  for (const YamlNode::Entry& entry : node.entries) entries.push_back(&entry);
  return entries;
}

/// One bot, in the list or in a document's block.
void AddBot(Reader& reader, const std::string& path, const YamlNode& node, bool all_events,
            std::vector<BotEntries>& bots, std::vector<std::string>& names) {
  if (node.shape != YamlNode::Shape::kMapping) {
    if (node.shape != YamlNode::Shape::kRefused)
      reader.Wrong({path, path, ""}, node.line, "is not a mapping with the options of a bot");
    return;
  }
  names.push_back(NameOf(node));
  const std::string where =
      names.back().empty() ? path : fmt::format("{} {}", path, config::Printable(names.back()));
  bots.push_back({.at = {where, path, ""},
                  .line = node.line,
                  .own = EntriesOf(node),
                  .blocks = {},
                  .defaults = {},
                  .all_events = all_events});
}

void ReadBots(Reader& reader, const Sections& sections) {
  std::vector<BotEntries> bots;
  std::vector<std::string> names;
  if (sections.bots)
    reader.List({"", "", "bots"}, *sections.bots, kMaxBots,
                [&](const Reader::At& item, const YamlNode& bot) {
                  AddBot(reader, item.key, bot, false, bots, names);
                });
  if (sections.bot_config) AddBot(reader, "bot_config", *sections.bot_config, true, bots, names);
  if (sections.defaults && sections.defaults->shape != YamlNode::Shape::kNothing) {
    CheckDefaults(reader, {"defaults", "defaults", ""}, *sections.defaults);
    for (BotEntries& bot : bots) bot.defaults = EntriesOf(*sections.defaults);
  }
  AddBlocks(reader, sections.blocks, bots, names);
  for (const BotEntries& bot : bots) ReadBot(reader, bot);
}

void SortByLine(std::vector<Mistake>& mistakes) {
  std::stable_sort(mistakes.begin(), mistakes.end(), [](const Mistake& left, const Mistake& right) {
    return left.line < right.line;
  });
}

void ReadRoot(Reader& reader, const YamlNode& root) {
  Sections sections;
  const bool read = root.shape == YamlNode::Shape::kNothing ||
                    reader.Mapping({}, root, kSections, [&](const auto&, const auto& entry) {
                      sections.Of(entry.key) = &entry.value;
                    });
  if (!read) return;
  ReadTenant(reader, sections.tenant);
  ReadSources(reader, sections.sources);
  ReadBots(reader, sections);
}

/// Names the bot that stands around the line of a problem that was found before anything was known
/// of bots.
std::string BotAround(const YamlNode& root, int line) {
  std::string around;
  for (const YamlNode::Entry& section : root.entries) {
    if (section.line > line) break;
    around.clear();
    if (section.key != "bots") continue;
    for (std::size_t i = 0; i < section.value.entries.size(); ++i) {
      const YamlNode& bot = section.value.entries[i].value;
      if (bot.line > line) break;
      around = fmt::format("bots[{}] {}", i, config::Printable(NameOf(bot)));
    }
  }
  return around;
}

/// A JSON value in the form that files are read in. What it cannot say is noted.
YamlNode NodeOf(Reader& reader, const base::JsonView& value, const std::string& path,
                std::size_t depth) {
  YamlNode node;
  node.line = 0;
  const auto wrong = [&](std::string message) {
    reader.Wrong({"", path, ""}, 0, std::move(message));
    node.shape = YamlNode::Shape::kRefused;
  };
  if (depth > kMaxDepth) {
    wrong("is nested too deep");
    return node;
  }
  switch (value.kind()) {
    case base::JsonView::Kind::kNull:
      break;
    case base::JsonView::Kind::kString:
      node.shape = YamlNode::Shape::kScalar;
      node.scalar = value.Text().value_or("");
      if (!base::IsStorableText(node.scalar)) wrong("is not text");
      break;
    case base::JsonView::Kind::kArray:
      node.shape = YamlNode::Shape::kList;
      for (const base::JsonView& item : value.Values()) {
        const std::string below = fmt::format("{}[{}]", path, node.entries.size());
        node.entries.push_back({"", 0, NodeOf(reader, item, below, depth + 1)});
      }
      break;
    case base::JsonView::Kind::kObject:
      node.shape = YamlNode::Shape::kMapping;
      for (std::set<std::string> seen; auto& [name, member] : value.Members()) {
        const std::string below =
            path.empty() ? config::Printable(name) : path + "." + config::Printable(name);
        if (!seen.insert(name).second)
          reader.Wrong({"", below, ""}, 0, "is given twice");
        else
          node.entries.push_back({name, 0, NodeOf(reader, member, below, depth + 1)});
      }
      break;
    default:
      node.shape = YamlNode::Shape::kScalar;
      node.scalar = value.text();
  }
  return node;
}

}  // namespace

Reading ReadYaml(std::string_view text, const Bounds& bounds) {
  Reading reading;
  Reader reader(bounds, reading);
  if (text.size() > kMaxFileBytes) {
    reader.Wrong({}, 1, fmt::format("the file is larger than {} bytes", kMaxFileBytes));
    return reading;
  }
  if (!base::IsStorableText(text)) {
    reader.Wrong({}, 1, "the file is not UTF-8 text");
    return reading;
  }
  config::Problems problems;
  const YamlNode root = config::ParseYaml(text, "", problems);
  for (const config::Problem& problem : problems)
    reader.Wrong({BotAround(root, problem.line), "", ""}, problem.line, problem.message);
  ReadRoot(reader, root);
  SortByLine(reading.mistakes);
  SortByLine(reading.warnings);
  return reading;
}

Reading ReadJson(std::string_view text, const Bounds& bounds) {
  Reading reading;
  Reader reader(bounds, reading);
  const auto root = text.size() > kMaxFileBytes || !base::IsJson(text)
                        ? std::nullopt
                        : std::optional(base::JsonView::Trusted(text));
  if (!root || root->kind() != base::JsonView::Kind::kObject) {
    reader.Wrong({}, 0, "is not a JSON object of at most 1 MiB");
    return reading;
  }
  ReadRoot(reader, NodeOf(reader, *root, "", 0));
  return reading;
}

}  // namespace tenure::webhooks::bots
