#include <map>
#include <string>

#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "cli/command.hpp"
#include "cli/run.hpp"

namespace tenure::app {
namespace {

// By words alone, without asking the program: completion must be instant, also with no server.
constexpr std::string_view kFrame =
    R"(# bash completion for tenure; load it with: source <(tenure completion bash)
_tenure() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words="" first="${{COMP_WORDS[1]}}" second="${{COMP_WORDS[2]}}"
  case "${{COMP_WORDS[COMP_CWORD-1]}}" in
    --config|--data) COMPREPLY=($(compgen -f -- "$word")); return ;;
    --workers) COMPREPLY=($(compgen -W "on off" -- "$word")); return ;;
    --active) COMPREPLY=($(compgen -W "true false" -- "$word")); return ;;
    --state) COMPREPLY=($(compgen -W "free held broken" -- "$word")); return ;;
    --kind) COMPREPLY=($(compgen -W "basic standard premium" -- "$word")); return ;;
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{first_words} --help --version"
  else
    case "$first $second" in
{commands}    esac
    if [ -z "$words" ] || [ "$COMP_CWORD" -eq 2 ]; then
      case "$first" in
{groups}      esac
    fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [[ "$first $second" == "config check" || "$first $second" == "config apply" ]]; then
    COMPREPLY+=($(compgen -f -- "$word"))
  fi
}}
complete -F _tenure tenure
)";

std::string FlagNames(const cli::Command& command) {
  std::string names;
  for (const cli::Flag& flag : cli::InOrder(command.flags))
    if (flag.name.starts_with("--")) names += fmt::format("{} ", flag.name);
  return names + "--help";
}

std::string Script(const cli::Commands& all) {
  std::map<std::string, std::string> below;  // first word -> what may follow it
  std::map<std::string, std::string> flags;  // two words -> what may follow them
  for (const cli::Command& command : all) {
    const std::string words(command.words);
    const std::size_t space = words.find(' ');
    if (space == std::string::npos) {
      below[words] += FlagNames(command);
      continue;
    }
    const std::size_t third = words.find(' ', space + 1);
    if (third != std::string::npos) {  // it stands behind the command of its first two words
      flags[words.substr(0, third)] += fmt::format(" {}", words.substr(third + 1));
      continue;
    }
    below[words.substr(0, space)] += words.substr(space + 1) + ' ';
    flags[words] += FlagNames(command);
  }
  std::string commands;
  for (const auto& [words, rest] : flags)
    commands += fmt::format("      \"{}\") words=\"{}\" ;;\n", words, rest);
  std::string first_words;
  std::string groups;
  for (const auto& [word, rest] : below) {
    first_words += (first_words.empty() ? "" : " ") + word;
    groups += fmt::format("        {}) words=\"{}\" ;;\n", word, rest);
  }
  return fmt::format(kFrame, fmt::arg("first_words", first_words), fmt::arg("commands", commands),
                     fmt::arg("groups", groups));
}

}  // namespace

cli::Command CompletionCommand(const cli::Commands& all) {
  return {.words = "completion bash",
          .summary = "Print a completion script for bash",
          .notes = "Example:\n  source <(tenure completion bash)\n",
          .flags = {},
          .run =
              [script = Script(all)](const cli::Given&, cli::Console& console) {
                console.out << script;
                return cli::kExitDone;
              },
          .part = cli::Part::kShell};
}

}  // namespace tenure::app
