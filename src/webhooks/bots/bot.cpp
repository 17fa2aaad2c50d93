#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "config/printable.hpp"
#include "webhooks/bots/reader.hpp"

namespace tenure::webhooks::bots {
namespace {

using rules::Scope;

constexpr std::int64_t kSecondMs = 1'000;
constexpr std::int64_t kMinuteMs = 60 * kSecondMs;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;
constexpr std::int64_t kDayMs = 24 * kHourMs;
constexpr std::int64_t kYearMs = 366 * kDayMs;

constexpr std::array<std::string_view, 4> kScopes = {"none", "entity", "repository", "custom"};
constexpr std::array<std::string_view, 3> kShares = {"owner", "repository", "none"};
constexpr std::array<std::string_view, 2> kChecks = {"self", "pull_requests"};
constexpr std::array<std::string_view, 3> kPolicies = {"park", "skip", "stop"};
constexpr std::array<std::string_view, 3> kRouteKeys = {"events", "entity", "key"};

/// A bot that is being read.
struct Draft {
  Bot bot;
  bool has_scope = false;
  bool has_events = false;
};

using ReadOne = void (*)(Reader&, const Reader::At&, const YamlNode&, Draft&);

struct Option {
  std::string_view name;
  bool of_sessions;  ///< it has no meaning where messages keep no order
  ReadOne read;
};

void ReadPatterns(Reader& reader, const Reader::At& at, const YamlNode& node,
                  std::vector<rules::EventPattern>& patterns) {
  reader.List(at, node, kMaxPatterns, [&](const Reader::At& item, const YamlNode& value) {
    const auto text = reader.Text(item, value);
    auto pattern = text ? rules::EventPattern::Parse(*text) : std::nullopt;
    if (!pattern) {
      if (text)
        reader.Wrong(
            item, value.line,
            fmt::format("{} is not a pattern [!]NAME[.ACTION], like issues.* or !*.labeled",
                        config::Quoted(*text)));
      return;
    }
    const bool plain = pattern->name.find('*') == std::string::npos;
    if (plain && !rules::IsDocumented(pattern->name)) {
      const auto near = config::Nearest(pattern->name, rules::DocumentedEvents());
      reader.Warn(item, value.line,
                  fmt::format("{} is no event that GitHub documents{}", config::Quoted(*text),
                              near ? fmt::format(" ({}?)", *near) : ""));
    }
    patterns.push_back(*std::move(pattern));
  });
}

void ReadEvents(Reader& reader, const Reader::At& at, const YamlNode& node, Draft& draft) {
  draft.has_events = true;
  ReadPatterns(reader, at, node, draft.bot.routing.events);
}

void ReadSources(Reader& reader, const Reader::At& at, const YamlNode& node, Draft& draft) {
  reader.List(at, node, kMaxSources, [&](const Reader::At& item, const YamlNode& value) {
    const auto text = reader.Text(item, value);
    if (!text) return;
    std::vector<std::string_view> known;
    for (const Source& source : reader.reading.file.sources) known.push_back(source.name);
    if (std::find(known.begin(), known.end(), *text) == known.end())
      return reader.Wrong(item, value.line,
                          fmt::format("{} is none of the sources of this file{}",
                                      config::Quoted(*text), GuessText(*text, known)));
    draft.bot.routing.sources.push_back(*text);
  });
}

void ReadRepositories(Reader& reader, const Reader::At& at, const YamlNode& node, Draft& draft) {
  reader.List(at, node, kMaxPatterns, [&](const Reader::At& item, const YamlNode& value) {
    const auto text = reader.Text(item, value);
    auto pattern = text ? rules::RepositoryPattern::Parse(*text) : std::nullopt;
    if (pattern)
      draft.bot.routing.repositories.push_back(*std::move(pattern));
    else if (text)
      reader.Wrong(item, value.line,
                   fmt::format("{} is not a pattern [!]OWNER/NAME, like acme/* or !acme/secret-*",
                               config::Quoted(*text)));
  });
}

std::optional<rules::KeyTemplate> ReadTemplate(Reader& reader, const Reader::At& at,
                                               const YamlNode& node) {
  const auto text = reader.Text(at, node);
  if (!text) return std::nullopt;
  auto made = rules::KeyTemplate::Parse(*text);
  if (auto* const key = std::get_if<rules::KeyTemplate>(&made)) return std::move(*key);
  reader.Wrong(at, node.line,
               fmt::format("{} {}", config::Quoted(*text), std::get<std::string>(made)));
  return std::nullopt;
}

std::optional<rules::Kind> ReadKind(Reader& reader, const Reader::At& at, const YamlNode& node) {
  std::vector<std::string_view> words;
  for (const rules::KindRow& row : rules::KindTable()) words.push_back(row.word);
  const auto word = reader.Word(at, node, words);
  if (!word) return std::nullopt;
  return rules::KindTable()[*word].kind;
}

void ReadRoute(Reader& reader, const Reader::At& at, const YamlNode& node, Draft& draft) {
  rules::Override rule;
  int keys = 0;
  bool events = false;
  const bool read =
      reader.Mapping(at, node, kRouteKeys, [&](const Reader::At& key, const auto& entry) {
        if (entry.key == "events") {
          events = true;
          ReadPatterns(reader, key, entry.value, rule.events);
        } else if (entry.key == "entity") {
          ++keys;
          if (const auto kind = ReadKind(reader, key, entry.value)) rule.key = *kind;
        } else {
          ++keys;
          if (auto made = ReadTemplate(reader, key, entry.value)) rule.key = *std::move(made);
        }
      });
  if (!read) return;
  if (!events) reader.Wrong(at, node.line, "has no events");
  if (keys != 1) reader.Wrong(at, node.line, "has not one of entity and key");
  draft.bot.routing.routes.push_back(std::move(rule));
}

template <std::int64_t Limits::*member, std::int64_t least, std::int64_t most>
void ReadNumber(Reader& reader, const Reader::At& at, const YamlNode& node, Draft& draft) {
  if (const auto value = reader.Integer(at, node, least, most)) draft.bot.limits.*member = *value;
}

template <std::int64_t Limits::*member, std::int64_t least_ms, std::int64_t most_ms>
void ReadSpan(Reader& reader, const Reader::At& at, const YamlNode& node, Draft& draft) {
  if (const auto value = reader.DurationMs(at, node, least_ms, most_ms))
    draft.bot.limits.*member = *value;
}

void ReadHistory(Reader& reader, const Reader::At& at, const YamlNode& node, Draft& draft) {
  if (const auto value = reader.DurationMs(at, node, 0, reader.bounds.max_history_ms))
    draft.bot.limits.history_ms = *value;
}

constexpr Option kOptions[] = {
    {"name", false,
     [](Reader& reader, const auto& at, const auto& node, Draft& draft) {
       if (auto name = reader.Name(at, node)) draft.bot.name = *std::move(name);
     }},
    {"events", false, ReadEvents},
    {"sources", false, ReadSources},
    {"repositories", false, ReadRepositories},
    {"ordering_scope", false,
     [](Reader& reader, const auto& at, const auto& node, Draft& draft) {
       draft.has_scope = true;
       if (const auto word = reader.Word(at, node, kScopes))
         draft.bot.routing.scope = static_cast<Scope>(*word);
     }},
    {"session_key", true,
     [](Reader& reader, const auto& at, const auto& node, Draft& draft) {
       draft.bot.routing.session_key = ReadTemplate(reader, at, node);
     }},
    {"routes", true,
     [](Reader& reader, const auto& at, const auto& node, Draft& draft) {
       reader.List(at, node, kMaxPatterns, [&](const Reader::At& item, const YamlNode& rule) {
         ReadRoute(reader, item, rule, draft);
       });
     }},
    {"checks", true,
     [](Reader& reader, const auto& at, const auto& node, Draft& draft) {
       draft.bot.routing.checks_to_pull_requests = reader.Word(at, node, kChecks) == 1U;
     }},
    {"fair_by", true,
     [](Reader& reader, const auto& at, const auto& node, Draft& draft) {
       if (const auto word = reader.Word(at, node, kShares))
         draft.bot.routing.fair_by = static_cast<rules::FairBy>(*word);
     }},
    {"max_concurrent_sessions", true, ReadNumber<&Limits::max_concurrent_sessions, 1, 1'000'000>},
    {"session_timeout", true, ReadSpan<&Limits::session_timeout_ms, kSecondMs, kDayMs>},
    {"session_idle_timeout", true, ReadSpan<&Limits::session_idle_timeout_ms, 0, kDayMs>},
    {"session_max_duration", true,
     ReadSpan<&Limits::session_max_duration_ms, kSecondMs, 30 * kDayMs>},
    {"session_max_messages", true, ReadNumber<&Limits::session_max_messages, 1, 1'000'000>},
    {"max_delivery_count", false, ReadNumber<&Limits::max_delivery_count, 1, 1'000>},
    {"retry_backoff", false, ReadSpan<&Limits::retry_backoff_ms, 0, kDayMs>},
    {"retry_backoff_max", false, ReadSpan<&Limits::retry_backoff_max_ms, 0, 7 * kDayMs>},
    {"on_dead_letter", false,
     [](Reader& reader, const auto& at, const auto& node, Draft& draft) {
       if (const auto word = reader.Word(at, node, kPolicies))
         draft.bot.limits.on_dead_letter = static_cast<OnDeadLetter>(*word);
     }},
    {"default_message_ttl", false,
     ReadSpan<&Limits::default_message_ttl_ms, kSecondMs, 10 * kYearMs>},
    {"queue_depth_threshold", false, ReadNumber<&Limits::queue_depth_threshold, 1, 1'000'000'000>},
    {"max_size_in_megabytes", false, ReadNumber<&Limits::max_size_in_megabytes, 1, 10'000'000>},
    {"duplicate_detection_window", false,
     ReadSpan<&Limits::duplicate_detection_window_ms, 0, 30 * kDayMs>},
    {"history", false, ReadHistory},
};

/// What a document's blocks say beside the options.
constexpr Option kBlockOptions[] = {
    {"sessions_enabled", false,
     [](Reader& reader, const auto& at, const auto& node, Draft& draft) {
       const auto enabled = reader.Flag(at, node);
       if (!enabled || *enabled == (draft.bot.routing.scope != Scope::kNone)) return;
       reader.Wrong(at, node.line,
                    fmt::format("does not agree with ordering_scope {}",
                                rules::ToText(draft.bot.routing.scope)));
     }},
    {"duplicate_detection_enabled", false,
     [](Reader& reader, const auto& at, const auto& node, Draft& draft) {
       if (reader.Flag(at, node) == false) draft.bot.limits.duplicate_detection_window_ms = 0;
     }},
};

const Option* Find(std::span<const Option> options, std::string_view name) {
  for (const Option& option : options)
    if (option.name == name) return &option;
  return nullptr;
}

std::vector<std::string_view> OptionNames() {
  std::vector<std::string_view> names;
  for (const Option& option : kOptions) names.push_back(option.name);
  return names;
}

/// Reads one entry of a bot.
void ReadEntry(Reader& reader, const Reader::At& at, const YamlNode::Entry& entry, bool own,
               Draft& draft) {
  const Option* option = Find(kOptions, entry.key);
  if (!option) option = Find(kBlockOptions, entry.key);
  const bool pointless = draft.bot.routing.scope == Scope::kNone && option->of_sessions;
  if (pointless && own)
    return reader.Wrong(at, entry.line,
                        fmt::format("{} has no meaning with ordering_scope none: its messages "
                                    "keep no order",
                                    entry.key));
  if (!pointless) option->read(reader, at.Below(entry.key), entry.value, draft);
}

void CheckTogether(Reader& reader, const Reader::At& at, int line, const Draft& draft) {
  const Bot& bot = draft.bot;
  const Limits& limits = bot.limits;
  const auto above = [&](std::string_view name, std::int64_t ms, std::string_view bound,
                         std::int64_t bound_ms) {
    if (ms > bound_ms)
      reader.Wrong(at.Below(name), line,
                   fmt::format("{} is longer than {} ({})", base::DurationText(ms), bound,
                               base::DurationText(bound_ms)));
  };
  if (bot.routing.scope != Scope::kNone) {
    above("session_timeout", limits.session_timeout_ms, "session_max_duration",
          limits.session_max_duration_ms);
    above("session_idle_timeout", limits.session_idle_timeout_ms, "session_max_duration",
          limits.session_max_duration_ms);
  }
  above("retry_backoff", limits.retry_backoff_ms, "retry_backoff_max", limits.retry_backoff_max_ms);
  if (bot.routing.session_key && bot.routing.scope != Scope::kCustom &&
      bot.routing.scope != Scope::kNone)
    reader.Wrong(at, line, "session_key belongs to ordering_scope custom");
}

}  // namespace

void CheckDefaults(Reader& reader, const Reader::At& at, const YamlNode& node) {
  std::vector<std::string_view> names = OptionNames();
  std::erase(names, "name");
  Draft draft;
  draft.bot.routing.scope = Scope::kEntity;
  reader.Mapping(at, node, names, [&](const Reader::At&, const YamlNode::Entry& entry) {
    ReadEntry(reader, at, entry, true, draft);
  });
}

void ReadBot(Reader& reader, const BotEntries& entries) {
  const std::size_t wrong_before = reader.reading.mistakes.size();
  Draft draft;
  // The entry that counts for each key: the bot's own, those of a document's block, the defaults.
  struct Chosen {
    const YamlNode::Entry* entry;
    bool own;
    bool from_defaults;
  };
  std::map<std::string_view, Chosen> chosen;
  for (const YamlNode::Entry* entry : entries.own) {
    if (!Find(kOptions, entry->key))
      reader.Wrong(entries.at, entry->line,
                   fmt::format("{} is not an option of a bot{}", config::Quoted(entry->key),
                               GuessText(entry->key, OptionNames())));
    chosen.insert({entry->key, {entry, true, false}});
  }
  for (const YamlNode::Entry* entry : entries.blocks) {
    const auto [place, fresh] = chosen.insert({entry->key, {entry, true, false}});
    if (!fresh && place->second.entry->value.scalar != entry->value.scalar)
      reader.Wrong(entries.at, entry->line,
                   fmt::format("{} is given twice, first on line {}", entry->key,
                               place->second.entry->line));
  }
  for (const YamlNode::Entry* entry : entries.defaults)
    chosen.insert({entry->key, {entry, false, true}});

  const auto read = [&](const Chosen& each) {
    const Reader::At at = each.from_defaults ? Reader::At{"defaults", "defaults", ""} : entries.at;
    ReadEntry(reader, at, *each.entry, each.own, draft);
  };
  // The scope decides what the others mean.
  if (const auto scope = chosen.find("ordering_scope"); scope != chosen.end()) read(scope->second);
  const bool unordered = draft.bot.routing.scope == Scope::kNone;
  if (unordered) draft.bot.limits.on_dead_letter = OnDeadLetter::kSkip;
  const auto read_rest = [&](std::span<const Option> options) {
    for (const Option& option : options) {
      const auto each = chosen.find(option.name);
      if (each == chosen.end() || option.name == "ordering_scope") continue;
      if (option.name == "on_dead_letter" && unordered && !each->second.own) continue;
      read(each->second);
    }
  };
  read_rest(kOptions);
  read_rest(kBlockOptions);
  if (!draft.has_events && entries.all_events)
    draft.bot.routing.events.push_back(*rules::EventPattern::Parse("*"));

  if (!chosen.contains("name")) reader.Wrong(entries.at, entries.line, "name is missing");
  if (!draft.has_scope) reader.Wrong(entries.at, entries.line, "ordering_scope is missing");
  if (!draft.has_events && !entries.all_events)
    reader.Wrong(entries.at, entries.line, "events is missing: [\"*\"] is all, [] none");
  if (unordered && draft.has_scope && draft.bot.limits.on_dead_letter != OnDeadLetter::kSkip)
    reader.Wrong(entries.at.Below("on_dead_letter"), chosen.at("on_dead_letter").entry->line,
                 "has no meaning with ordering_scope none but skip");
  if (draft.bot.routing.scope == Scope::kCustom && !chosen.contains("session_key") &&
      !draft.bot.routing.events.empty())
    reader.Wrong(entries.at, entries.line, "session_key is missing: ordering_scope is custom");
  if (reader.reading.mistakes.size() == wrong_before)
    CheckTogether(reader, entries.at, entries.line, draft);
  for (const Bot& other : reader.reading.file.bots)
    if (other.name == draft.bot.name && !other.name.empty())
      reader.Wrong(entries.at, entries.line, fmt::format("the name {} is given twice", other.name));
  reader.reading.file.bots.push_back(std::move(draft.bot));
}

}  // namespace tenure::webhooks::bots
