#include "webhooks/bots/change.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tenure::webhooks::bots {
namespace {

using rules::Scope;
using What = Change::What;

template <class Named>
const Named* FindNamed(const std::vector<Named>& all, std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Named& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

template <class Patterns>
std::vector<std::string> TextsOf(const Patterns& patterns) {
  std::vector<std::string> texts;
  for (const auto& pattern : patterns) texts.push_back(pattern.text);
  return texts;
}

bool SameIntake(const rules::Routing& left, const rules::Routing& right) {
  return TextsOf(left.events) == TextsOf(right.events) && left.sources == right.sources &&
         TextsOf(left.repositories) == TextsOf(right.repositories);
}

std::string GenerationText(const rules::Routing& before, const rules::Routing& after) {
  if (before.scope == Scope::kNone)
    return fmt::format(
        "from scope none to {}: a new generation, which is handed out when the "
        "queue's topic is empty",
        rules::ToText(after.scope));
  if (after.scope == Scope::kNone)
    return fmt::format(
        "from scope {} to none: new messages have no order; accept hands out what is "
        "left, then the queue is a topic",
        rules::ToText(before.scope));
  return "other keys: a new generation, which is handed out when no message of an older one waits";
}

std::string CapText(const Limits& before, const Limits& after) {
  const std::int64_t from = before.max_concurrent_sessions;
  const std::int64_t to = after.max_concurrent_sessions;
  if (from == to) return "";
  const bool lower = to > 0 && (from == 0 || to < from);
  return lower ? "; holds above the lower cap go on until they end"
               : "; the higher cap counts at once";
}

void CompareBot(const Bot& before, const Bot& after, std::vector<Change>& changes) {
  if (KeyRuleOf(before.routing) != KeyRuleOf(after.routing))
    changes.push_back(
        {What::kNewGeneration, after.name, GenerationText(before.routing, after.routing)});
  if (before.limits != after.limits || before.routing.fair_by != after.routing.fair_by)
    changes.push_back({What::kLimits, after.name,
                       "its limits count from the next decision on; given deadlines stay" +
                           CapText(before.limits, after.limits)});
  if (!SameIntake(before.routing, after.routing))
    changes.push_back({What::kIntake, after.name, "it gets other events from the next one on"});
}

}  // namespace

std::string_view ToText(Change::What what) {
  constexpr std::array<std::string_view, 8> kWords = {
      "bot_added", "bot_removed",  "new_generation", "limits",
      "intake",    "source_added", "source_removed", "source_changed"};
  return kWords.at(static_cast<std::size_t>(what));
}

std::vector<Change> Compare(const File& old_file, const File& new_file) {
  std::vector<Change> changes;
  for (const Source& source : new_file.sources) {
    const Source* const before = FindNamed(old_file.sources, source.name);
    if (!before)
      changes.push_back({What::kSourceAdded, source.name, "it may send webhooks"});
    else if (*before != source)
      changes.push_back(
          {What::kSourceChanged, source.name, "from the next webhook on that arrives"});
  }
  for (const Source& source : old_file.sources)
    if (!FindNamed(new_file.sources, source.name))
      changes.push_back({What::kSourceRemoved, source.name, "its webhooks are answered 404"});
  for (const Bot& bot : new_file.bots) {
    if (const Bot* const before = FindNamed(old_file.bots, bot.name))
      CompareBot(*before, bot, changes);
    else
      changes.push_back({What::kBotAdded, bot.name, "its queue gets what commits from then on"});
  }
  for (const Bot& bot : old_file.bots)
    if (!FindNamed(new_file.bots, bot.name))
      changes.push_back({What::kBotRemoved, bot.name,
                         "its queue drains: it gets nothing new, and hands out what waits"});
  return changes;
}

}  // namespace tenure::webhooks::bots
