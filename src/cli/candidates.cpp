#include "cli/candidates.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/server.hpp"

namespace tenure::cli {
namespace {

using Words = std::vector<std::string>;
using Kind = Flag::Kind;

const Flag* FindFlag(const Flags& flags, std::string_view name) {
  const auto found = std::ranges::find(flags, name, &Flag::name);
  return found == flags.end() ? nullptr : &*found;
}

bool TakesValue(const Flag& flag) { return flag.kind == Kind::kValue || flag.kind == Kind::kList; }

bool IsFile(std::string_view placeholder) {
  return placeholder == "FILE" || placeholder == "PATH" || placeholder == "FOLDER";
}

/// "free|held|broken", each as a word.
void AddChoices(Candidates& found, std::string_view placeholder) {
  while (true) {
    const std::size_t bar = placeholder.find('|');
    found.words.push_back({std::string(placeholder.substr(0, bar)), {}});
    if (bar == std::string_view::npos) return;
    placeholder.remove_prefix(bar + 1);
  }
}

void AddValues(Candidates& found, const Flag& flag, std::string_view placeholder) {
  if (!flag.names.path.empty())
    found.names = flag.names;
  else if (IsFile(placeholder))
    found.files = true;
  else if (placeholder.find('|') != std::string_view::npos)
    AddChoices(found, placeholder);
}

/// What was written before the word at the cursor, as far as it matters for that.
struct Before {
  Words plain{};               ///< neither flags nor their values
  Words flags{};               ///< names of flags
  const Flag* open = nullptr;  ///< a flag whose value is being written
};

/// Reads the words before the cursor; the flags are those of `flags`. Shells that break words at "="
/// hand it over as a word of its own.
Before ReadBefore(const Words& words, const Flags& flags, Given& server) {
  Before before;
  const auto asked = [&](const Flag& flag, const std::string& value) {
    if (FindFlag(ServerFlags(), flag.name)) server.Set(flag.name, {value});
  };
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (before.open != nullptr) {
      if (word == "=") continue;
      asked(*before.open, word);
      before.open = nullptr;
    } else if (word.starts_with("--")) {
      const std::size_t equals = word.find('=');
      const Flag* const flag = FindFlag(flags, word.substr(0, equals));
      before.flags.push_back(word.substr(0, equals));
      if (flag == nullptr) continue;
      if (equals != std::string::npos)
        asked(*flag, word.substr(equals + 1));
      else if (TakesValue(*flag))
        before.open = flag;
      else
        asked(*flag, "");
    } else {
      before.plain.push_back(word);
    }
  }
  return before;
}

/// How many of `given` the words of a command begin with; all of the command's, or all of `given`.
bool Leads(std::string_view words, const Words& given, std::size_t& count, std::string& next) {
  count = 0;
  while (!words.empty()) {
    const std::size_t space = words.find(' ');
    const std::string_view word = words.substr(0, space);
    if (count == given.size()) {
      next = word;
      return true;
    }
    if (given[count] != word) return false;
    ++count;
    words.remove_prefix(space == std::string_view::npos ? words.size() : space + 1);
  }
  next.clear();
  return true;
}

void AddOnce(Candidates& found, std::string text, std::string_view what) {
  if (std::ranges::find(found.words, text, &Candidate::text) == found.words.end())
    found.words.push_back({std::move(text), std::string(what)});
}

void AddFlags(Candidates& found, const Command& command, const Before& before) {
  for (const Flag& flag : command.flags) {
    if (!flag.name.starts_with("--")) continue;
    const bool given = std::ranges::find(before.flags, flag.name) != before.flags.end();
    if (!given || flag.kind == Kind::kList) AddOnce(found, std::string(flag.name), flag.does);
  }
  AddOnce(found, "--help", "Print its page.");
}

/// The argument that comes behind `count` others; null when there is none.
const Flag* ArgumentAt(const Command& command, std::size_t count) {
  for (const Flag& flag : command.flags) {
    if (flag.kind == Kind::kArguments) return &flag;
    if (flag.kind == Kind::kArgument && count-- == 0) return &flag;
  }
  return nullptr;
}

}  // namespace

Candidates Complete(const Commands& commands, const Words& words) {
  Candidates found;
  if (words.empty()) return found;
  std::string current = words.back();
  const bool behind_dashes =
      std::ranges::find(words.begin(), words.end() - 1, "--") != words.end() - 1;
  if (behind_dashes) return found;  // a command of the user's own

  // The flags of all commands: which one is meant is not known before they are taken out.
  Flags all = ServerFlags();
  for (const Command& command : commands) all = std::move(all) + command.flags;
  Before before = ReadBefore(words, all, found.server);
  const Command* meant = nullptr;
  std::size_t meant_words = 0;
  for (const Command& command : commands) {
    std::size_t count = 0;
    std::string next;
    if (!Leads(command.words, before.plain, count, next)) continue;
    if (!next.empty())
      AddOnce(found, next, command.words.ends_with(next) ? command.summary : std::string_view());
    else if (meant == nullptr || count > meant_words)
      meant = &command, meant_words = count;
  }
  if (meant != nullptr) {
    Given again;
    before = ReadBefore(words, meant->flags, again);
    const std::size_t equals = current.find('=');
    const Flag* open = before.open;
    if (open == nullptr && current.starts_with("--") && equals != std::string::npos)
      open = FindFlag(meant->flags, current.substr(0, equals));
    if (open != nullptr) {
      found.words.clear();
      AddValues(found, *open, open->placeholder);
      const bool same_word = before.open == nullptr;
      if (same_word)
        for (Candidate& word : found.words) word.text.insert(0, current.substr(0, equals + 1));
      if (same_word) found.names.reset();
      if (current == "=") current.clear();
    } else if (!current.starts_with("-")) {
      const Flag* const argument = ArgumentAt(*meant, before.plain.size() - meant_words);
      if (argument != nullptr) AddValues(found, *argument, argument->name);
      if (argument == nullptr && current.empty()) AddFlags(found, *meant, before);
    } else {
      AddFlags(found, *meant, before);
    }
  } else if (before.plain.empty()) {
    for (const char* flag : {"--help", "--version"}) AddOnce(found, flag, {});
    if (current.starts_with("-"))
      for (const Flag& flag : ServerFlags()) AddOnce(found, std::string(flag.name), flag.does);
  }
  std::erase_if(found.words,
                [&](const Candidate& word) { return !word.text.starts_with(current); });
  return found;
}

}  // namespace tenure::cli
