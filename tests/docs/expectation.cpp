#include "docs/expectation.hpp"

#include <algorithm>
#include <regex>
#include <span>
#include <utility>

namespace tenure::docs {
namespace {

constexpr std::string_view kAnything = "...";

std::vector<std::string> NormalisedLines(const std::vector<std::string>& lines) {
  std::vector<std::string> normalised;
  std::transform(lines.begin(), lines.end(), std::back_inserter(normalised),
                 [](const std::string& line) { return Normalised(line); });
  return normalised;
}

/// "..." in `pattern` stands for any text.
bool LineMatches(std::string_view pattern, std::string_view line) {
  const auto gap = pattern.find(kAnything);
  if (gap == std::string_view::npos) return pattern == line;
  if (!line.starts_with(pattern.substr(0, gap))) return false;
  line.remove_prefix(gap);
  pattern.remove_prefix(gap + kAnything.size());
  for (std::size_t skipped = 0; skipped <= line.size(); ++skipped)
    if (LineMatches(pattern, line.substr(skipped))) return true;
  return false;
}

using Lines = std::span<const std::string>;

/// How many lines of `actual` agree with `expected` before the first that does not; all of them and
/// one more if everything matches.
std::size_t Agreement(Lines expected, Lines actual) {
  if (expected.empty()) return actual.empty() ? 1 : 0;
  if (expected.front() == kAnything) {
    std::size_t best = 0;
    for (std::size_t skipped = 0; skipped <= actual.size(); ++skipped) {
      const auto rest = Agreement(expected.subspan(1), actual.subspan(skipped));
      best = std::max(best, skipped + rest);
      if (best > actual.size()) break;
    }
    return best;
  }
  if (actual.empty() || !LineMatches(expected.front(), actual.front())) return 0;
  return 1 + Agreement(expected.subspan(1), actual.subspan(1));
}

}  // namespace

std::string Normalised(std::string_view line) {
  static const std::vector<std::pair<std::regex, std::string>> kRules = {
      {std::regex("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"),
       "<uuid>"},
      {std::regex("[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]+)?"
                  "(Z|[+-][0-9]{2}:[0-9]{2})?"),
       "<time>"},
      {std::regex("(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} "
                  "[0-9]{2}:[0-9]{2}:[0-9]{2} GMT"),
       "<time>"},
      {std::regex("(127\\.0\\.0\\.1|localhost):[0-9]+"), "$1:<port>"},
      {std::regex("\\b[0-9]+(\\.[0-9]+)? ?(ms|us|µs|s|sec|seconds?|min|minutes?|h|hours?)\\b"),
       "<duration>"},
      {std::regex("[ \\r]+$"), ""},
  };
  std::string text(line);
  for (const auto& [pattern, replacement] : kRules)
    text = std::regex_replace(text, pattern, replacement);
  return text;
}

bool Matches(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
  const auto pattern = NormalisedLines(expected);
  const auto lines = NormalisedLines(actual);
  return Agreement(pattern, lines) > lines.size();
}

std::string Difference(const std::vector<std::string>& expected,
                       const std::vector<std::string>& actual) {
  const auto lines = NormalisedLines(actual);
  const auto agreed = Agreement(NormalisedLines(expected), lines);
  std::string text = "  expected:\n";
  for (const auto& line : expected) text += "      | " + line + "\n";
  if (expected.empty()) text += "      (nothing)\n";
  text += "  got:\n";
  for (std::size_t i = 0; i < lines.size(); ++i)
    text += (i == agreed ? "  --> | " : "      | ") + actual[i] + "\n";
  if (agreed == lines.size()) text += "  --> (ends here)\n";
  return text;
}

}  // namespace tenure::docs
