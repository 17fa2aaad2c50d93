// `tenure completion`: scripts for three shells, all of which ask `tenure completion words` what may
// stand at the cursor.

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <future>
#include <sstream>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "cli/candidates.hpp"
#include "cli/contexts.hpp"
#include "cli/server.hpp"
#include "config/environment.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

using cli::Given;
using Lines = std::vector<std::string>;

/// With what the program itself takes to start and the shell to read: below 300 ms in all.
constexpr std::chrono::milliseconds kPatience{200};
constexpr std::time_t kKeptSeconds = 10;
constexpr std::string_view kContextNames = "contexts";

constexpr std::string_view kBash =
    R"(# bash completion for tenure; load it with: source <(tenure completion bash)
_tenure() {
  local line candidate typed="${COMP_LINE:0:COMP_POINT}" current="" broken
  local -a words
  read -ra words <<< "$typed"
  [[ "$typed" == *[[:space:]] ]] || { current="${words[-1]}"; unset 'words[-1]'; }
  # The shell replaces only what stands behind the last of these.
  broken="${current%"${current##*[:=]}"}"
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ "$line" == ":files" ]]; then
      COMPREPLY+=($(compgen -f -- "$current"))
    else
      candidate="${line%%$'\t'*}"
      COMPREPLY+=("${candidate#"$broken"}")
    fi
  done < <("${words[0]}" completion words -- "${words[@]:1}" "$current" 2>/dev/null)
}
complete -o nosort -F _tenure tenure
)";

constexpr std::string_view kZsh =
    R"(#compdef tenure
# zsh completion for tenure; load it with: source <(tenure completion zsh)
_tenure() {
  local line
  local -a described
  for line in "${(@f)$("${words[1]}" completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ "$line" == ":files" ]]; then
      _files
    elif [[ -n "$line" ]]; then
      described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    fi
  done
  (( ${#described} )) && _describe -V tenure described
}
if [[ "${funcstack[1]}" == "_tenure" ]]; then
  _tenure "$@"  # loaded by itself, from a folder of $fpath
elif (( ${+functions[compdef]} )); then
  compdef _tenure tenure
fi
)";

constexpr std::string_view kFish =
    R"(# fish completion for tenure; load it with: tenure completion fish | source
function __tenure_words
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  test -n "$current"; or set current ''
  for line in ($words[1] completion words -- $words[2..-1] "$current" 2>/dev/null)
    if test "$line" = ':files'
      __fish_complete_path "$current"
    else
      echo $line
    end
  end
end
complete -c tenure -f -a '(__tenure_words)'
)";

/// One question for names that a server knows.
struct Question {
  Given server{};
  cli::Names names{};
  std::string begun{};
};

Lines Ask(const Question& question) {
  Lines names;
  if (question.names.path == kContextNames) {
    const cli::Contexts contexts = cli::Contexts::Read();
    for (const cli::Context& context : contexts.all()) names.push_back(context.name);
    return names;
  }
  std::string path(question.names.path);
  if (const std::size_t place = path.find("{}"); place != std::string::npos)
    path.replace(place, 2, cli::PercentEncoded(question.begun));
  cli::Server server(question.server);
  const cli::Answer answer = server.Ask(http::Method::kGet, path);
  if (!answer.ok()) return names;
  for (const std::string& item : cli::JsonRow::Parse(answer.body).Items("items"))
    names.push_back(cli::JsonRow::Parse(item).Text(question.names.field));
  return names;
}

/// The answer, or nothing when it does not come in time. Whatever is wrong is silence: a shell that
/// completes shows no errors.
Lines AskInTime(const Question& question, const cli::Console& console) {
  std::promise<Lines> answer;
  std::future<Lines> told = answer.get_future();
  std::thread asking([&answer, &question] {
    try {
      answer.set_value(Ask(question));
    } catch (const std::exception&) {
      answer.set_value({});
    }
  });
  // A question cannot be taken back (a name server, a token's command): the program just ends.
  if (console.out_fd >= 0 && told.wait_for(kPatience) != std::future_status::ready)
    _exit(cli::kExitDone);
  asking.join();
  return told.get();
}

/// Where the names of a question are kept for some seconds: a second Tab costs the server nothing.
/// Empty: nowhere.
std::string KeptIn(const Question& question) {
  std::string key(question.names.path);
  key += '\n' + question.begun;
  for (const char* flag : {"--server", "--context", "--token-file", "--ca-file"})
    key += '\n' + question.server.Or(flag, "");
  for (const char* variable : {"TENURE_SERVER", "TENURE_CONTEXT", "TENURE_TOKEN"})
    key += '\n' + config::FindVariable(config::CurrentEnvironment(), variable).value_or("");
  struct stat contexts {};
  if (stat(cli::Contexts::Path().c_str(), &contexts) == 0)
    key += fmt::format("\n{}.{}", contexts.st_mtim.tv_sec, contexts.st_mtim.tv_nsec);
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  const char* const home = std::getenv("HOME");
  std::string folder = cache != nullptr && *cache == '/' ? cache : "";
  if (folder.empty() && home != nullptr && *home == '/') folder = std::string(home) + "/.cache";
  if (folder.empty()) return {};
  return fmt::format("{}/tenure/names-{:016x}", folder, std::hash<std::string>()(key));
}

Lines Names(const Question& question, const cli::Console& console) {
  const std::string kept = question.names.path == kContextNames ? "" : KeptIn(question);
  struct stat file {};
  if (!kept.empty() && stat(kept.c_str(), &file) == 0 && file.st_uid == geteuid() &&
      std::time(nullptr) - file.st_mtime < kKeptSeconds) {
    std::ifstream lines(kept);
    Lines names;
    for (std::string name; std::getline(lines, name);) names.push_back(name);
    return names;
  }
  const Lines names = AskInTime(question, console);
  if (!kept.empty() && !names.empty()) {
    std::error_code ignored;  // then the next one asks again
    std::filesystem::create_directories(std::filesystem::path(kept).parent_path(), ignored);
    const mode_t mask = umask(077);
    std::ofstream lines(kept + ".new", std::ios::trunc);
    umask(mask);
    for (const std::string& name : names) lines << name << "\n";
    lines.close();
    std::filesystem::rename(kept + ".new", kept, ignored);
  }
  return names;
}

/// A name that a shell can take as a word and show in a line.
bool IsWord(const std::string& name) {
  return !name.empty() && name.find_first_of(" \t\n'\"\\$`") == std::string::npos &&
         config::Printable(name) == name;
}

int PrintWords(const Given& given, cli::Console& console) {
  const std::vector<std::string> words = given.All("WORD");
  const cli::Candidates found = cli::Complete(AllCommands(), words);
  for (const auto& [text, what] : found.words) console.out << text << "\t" << what << "\n";
  if (found.files) console.out << ":files\n";
  if (!found.names) return cli::kExitDone;
  const std::string& begun = words.back();
  console.out.flush();  // asking may end the program
  for (const std::string& name : Names({found.server, *found.names, begun}, console))
    if (IsWord(name) && name.starts_with(begun)) console.out << name << "\t\n";
  return cli::kExitDone;
}

cli::Command Script(std::string_view words, std::string_view summary, std::string_view example,
                    std::string_view script) {
  return {.words = words,
          .summary = summary,
          .notes = fmt::format("It completes commands, flags, files, and names that the server "
                               "knows, as far as it answers\nwithin 0.2 s.\n\nExample:\n  {}\n",
                               example),
          .flags = {},
          .run =
              [script](const Given&, cli::Console& console) {
                console.out << script;
                return cli::kExitDone;
              },
          .part = cli::Part::kShell};
}

}  // namespace

cli::Commands CompletionCommands() {
  return {Script("completion bash", "Print a completion script for bash",
                 "source <(tenure completion bash)", kBash),
          Script("completion zsh", "Print a completion script for zsh",
                 "source <(tenure completion zsh)", kZsh),
          Script("completion fish", "Print a completion script for fish",
                 "tenure completion fish | source", kFish),
          {.words = "completion words",
           .summary = "Say what may stand at the cursor, for the scripts",
           .notes = "Prints a line for each word that may, with a phrase behind a tab; `:files` "
                    "stands for files.\n",
           .flags = {cli::Rest("WORD", "The words behind tenure; the last is begun.")},
           .run = PrintWords,
           .part = cli::Part::kShell}};
}

}  // namespace tenure::app
