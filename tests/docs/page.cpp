#include "docs/page.hpp"

#include <algorithm>

#include "docs/lines.hpp"

namespace tenure::docs {
namespace {

constexpr std::string_view kFence = "```";
constexpr std::string_view kPrompt = "$ ";
constexpr std::string_view kContinued = "> ";
constexpr std::string_view kNoRun = "no-run";

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// What stands behind ```console; false for any other line.
bool IsConsoleFence(std::string_view line, std::string_view& rest) {
  constexpr std::string_view kLanguage = "console";
  line = Trimmed(line);
  if (!line.starts_with(kFence)) return false;
  line = Trimmed(line.substr(kFence.size()));
  if (!line.starts_with(kLanguage)) return false;
  line.remove_prefix(kLanguage.size());
  if (!line.empty() && line.front() != ' ') return false;
  rest = Trimmed(line);
  return true;
}

/// Adds one line of a runnable block.
void AddLine(Page& page, std::string_view line, int number, bool block_has_command) {
  const bool is_command = line.starts_with(kPrompt);
  if (is_command) {
    page.commands.push_back({.line = number, .text = std::string(line.substr(kPrompt.size()))});
    return;
  }
  if (!block_has_command) {
    page.errors.push_back(std::to_string(number) + ": output without a '$ ' command");
    return;
  }
  auto& command = page.commands.back();
  const bool has_output = !command.expected.empty();
  if (!has_output && (command.text.ends_with('\\') || line.starts_with(kContinued))) {
    if (line.starts_with(kContinued)) line.remove_prefix(kContinued.size());
    command.text.append("\n").append(line);
  } else {
    command.expected.emplace_back(line);
  }
}

}  // namespace

Page ParsePage(std::string_view markdown) {
  Page page;
  const auto lines = SplitLines(markdown);
  bool in_other_block = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto number = [&i] { return static_cast<int>(i) + 1; };
    std::string_view rest;
    if (in_other_block || !IsConsoleFence(lines[i], rest)) {
      // A block of another kind may show a console fence: inside it nothing begins.
      if (Trimmed(lines[i]).starts_with(kFence)) in_other_block = !in_other_block;
      continue;
    }
    const int start = number();
    const bool runs = !rest.starts_with(kNoRun);
    if (!runs && Trimmed(rest.substr(kNoRun.size())).empty())
      page.errors.push_back(std::to_string(start) + ": no-run needs a reason");
    if (runs && !rest.empty())
      page.errors.push_back(std::to_string(start) + ": unknown word '" + std::string(rest) +
                            "' behind console");

    const auto indent = lines[i].find_first_not_of(' ');  // a block inside a list
    const auto commands_before = page.commands.size();
    for (++i; i < lines.size() && Trimmed(lines[i]) != kFence; ++i) {
      std::string_view line = lines[i];
      line.remove_prefix(std::min(line.find_first_not_of(' '), indent));
      if (runs) AddLine(page, line, number(), page.commands.size() > commands_before);
    }
    if (i == lines.size()) page.errors.push_back(std::to_string(start) + ": the block never ends");
  }
  return page;
}

}  // namespace tenure::docs
