#include "webhooks/rules/pattern.hpp"

#include <algorithm>

namespace tenure::webhooks::rules {
namespace {

constexpr std::size_t kMaxPatternBytes = 200;

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

bool IsLowerWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '*';
  });
}

bool IsLoginWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '*' || c == '-' ||
           c == '.';
  });
}

bool TakeExclusion(std::string_view& text) {
  const bool excludes = text.starts_with('!');
  if (excludes) text.remove_prefix(1);
  return excludes;
}

template <class Pattern, class Fits>
Verdict JudgeBy(const std::vector<Pattern>& patterns, const Fits& fits) {
  Verdict verdict{.passes = true};
  bool chosen = false;
  for (const Pattern& pattern : patterns) {
    const bool fit = fits(pattern);
    if (pattern.excludes && fit) return {false, &pattern.text};
    if (pattern.excludes) continue;
    if (!chosen) verdict = {fit, fit ? &pattern.text : nullptr};
    chosen = chosen || fit;
    if (!chosen) verdict.passes = false;
  }
  return verdict;
}

}  // namespace

bool FitsGlob(std::string_view pattern, std::string_view text) {
  std::size_t at = 0;
  std::size_t star = std::string_view::npos;  // the last one, and where its run ended
  std::size_t run_end = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      run_end = i;
    } else if (at < pattern.size() && pattern[at] == text[i]) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++run_end;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == std::string_view::npos;
}

std::optional<EventPattern> EventPattern::Parse(std::string_view text) {
  if (text.size() > kMaxPatternBytes) return std::nullopt;
  EventPattern pattern;
  pattern.text = text;
  pattern.excludes = TakeExclusion(text);
  const std::size_t point = text.find('.');
  pattern.name = text.substr(0, point);
  if (point != std::string_view::npos) pattern.action = text.substr(point + 1);
  if (!IsLowerWord(pattern.name) || !IsLowerWord(pattern.action)) return std::nullopt;
  return pattern;
}

bool EventPattern::Fits(std::string_view event, std::string_view action_of_event) const {
  return FitsGlob(name, event) && FitsGlob(action, action_of_event);
}

std::optional<RepositoryPattern> RepositoryPattern::Parse(std::string_view text) {
  if (text.size() > kMaxPatternBytes) return std::nullopt;
  RepositoryPattern pattern;
  pattern.text = text;
  pattern.excludes = TakeExclusion(text);
  const std::string lower = LowerCase(text);
  const std::size_t slash = lower.find('/');
  if (slash == std::string::npos) return std::nullopt;
  pattern.owner = lower.substr(0, slash);
  pattern.name = lower.substr(slash + 1);
  if (!IsLoginWord(pattern.owner) || !IsLoginWord(pattern.name)) return std::nullopt;
  return pattern;
}

bool RepositoryPattern::Fits(std::string_view repository) const {
  const std::string lower = LowerCase(repository);
  const std::size_t slash = lower.find('/');
  if (slash == std::string::npos) return name == "*" && FitsGlob(owner, lower);
  return FitsGlob(owner, std::string_view(lower).substr(0, slash)) &&
         FitsGlob(name, std::string_view(lower).substr(slash + 1));
}

Verdict Judge(const std::vector<EventPattern>& patterns, std::string_view event,
              std::string_view action) {
  return JudgeBy(patterns,
                 [&](const EventPattern& pattern) { return pattern.Fits(event, action); });
}

Verdict Judge(const std::vector<RepositoryPattern>& patterns, std::string_view repository) {
  return JudgeBy(patterns, [&](const RepositoryPattern& pattern) {
    return !repository.empty() && pattern.Fits(repository);
  });
}

}  // namespace tenure::webhooks::rules
