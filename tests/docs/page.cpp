#include "docs/page.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <regex>
#include <span>
#include <utility>

#include "support/azure_stores.hpp"
#include "support/port.hpp"
#include "support/postgres_cluster.hpp"
#include "support/redis_server.hpp"
#include "support/server_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::docs {
namespace {

using Lines = std::span<const std::string>;

constexpr std::string_view kFence = "```";
constexpr std::string_view kPrompt = "$ ";
constexpr std::string_view kContinued = "> ";
constexpr std::string_view kNoRun = "no-run";

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

/// The line that begins a block: "```console no-run too long".
struct Fence {
  std::string_view language;  ///< "console"
  std::string_view rest;      ///< "no-run too long"
};
std::optional<Fence> FenceOf(std::string_view line) {
  line = Trimmed(line);
  if (!line.starts_with(kFence)) return std::nullopt;
  line = Trimmed(line.substr(kFence.size()));
  const std::string_view language = line.substr(0, line.find(' '));
  return Fence{language, Trimmed(line.substr(language.size()))};
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

/// A block of the page, of any kind.
struct Block {
  Fence fence;
  int line = 0;  ///< of its fence
  std::vector<std::string_view> lines = {};
};

void AddConsole(Page& page, const Block& block) {
  const std::string_view rest = block.fence.rest;
  const bool runs = !rest.starts_with(kNoRun);
  if (!runs && Trimmed(rest.substr(kNoRun.size())).empty())
    page.errors.push_back(std::to_string(block.line) + ": no-run needs a reason");
  if (runs && !rest.empty())
    page.errors.push_back(std::to_string(block.line) + ": unknown word '" + std::string(rest) +
                          "' behind console");
  if (!runs) return;
  const auto commands_before = page.commands.size();
  int number = block.line;
  for (const std::string_view line : block.lines)
    AddLine(page, line, ++number, page.commands.size() > commands_before);
}

void AddBlock(Page& page, const Block& block) {
  if (block.fence.language == "console") return AddConsole(page, block);
  if (block.fence.language == "cpp") {
    Program& program = page.programs.emplace_back(Program{.line = block.line});
    for (const std::string_view line : block.lines) program.text.append(line).append("\n");
  } else if (block.fence.language == "output") {
    if (page.programs.empty() || !page.programs.back().expected.empty()) {
      page.errors.push_back(std::to_string(block.line) + ": output without a program");
      return;
    }
    page.programs.back().expected.assign(block.lines.begin(), block.lines.end());
  }
}

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

constexpr auto kPageTimeout = std::chrono::minutes(3);

/// The shell's part of a page. Each command is a file, so that one with a syntax error cannot
/// swallow the next; `eval` keeps variables and the working folder from one to the next.
constexpr const char* kShell = R"sh(
for ((i = 0; i < $1; ++i)); do
  eval "$(<"$2/$i.command")" >"$2/$i.output" 2>&1 </dev/null
  echo $? >"$2/$i.code"
done
)sh";

/// The folders of one page's run.
struct Workplace {
  support::TempDir dir;
  std::filesystem::path bin = dir / "bin";
  std::filesystem::path work = dir / "work";
  std::filesystem::path run = dir / "run";

  /// `as_built`: tenure is where ./start leaves it, and not in PATH.
  Workplace(const std::filesystem::path& tenure, bool as_built) {
    if (as_built) bin = work / kBuild;
    for (const auto& folder : {work, bin, run}) std::filesystem::create_directory(folder);
    std::filesystem::create_symlink(tenure, bin / "tenure");
    const char* old_path = std::getenv("PATH");
    path = old_path != nullptr ? old_path : "";
    if (!as_built) path = bin.string() + ":" + path;
  }

  static constexpr const char* kBuild = "build";
  static constexpr const char* kExamples = "examples";
  std::string path;
};

/// What the page left in its working folder: a reader sees it in `git status`, unless .gitignore
/// names it.
std::vector<std::string> LeftBehind(const std::filesystem::path& work) {
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(work)) {
    const std::string name = entry.path().filename();
    if (name == Workplace::kBuild || name == Workplace::kExamples ||
        IsIgnored(name + (entry.is_directory() ? "/" : "")))
      continue;
    left.push_back(name);
  }
  return left;
}

std::string WithRealAddress(const std::string& command, const std::string& port_named, int port) {
  const std::regex address("(127\\.0\\.0\\.1|localhost):" + port_named + "\\b");
  return std::regex_replace(command, address, "127.0.0.1:" + std::to_string(port));
}

/// What the shell left about one command. No value: the shell did not get that far.
struct Outcome {
  std::vector<std::string> output;
  int exit_code;
};

std::optional<Outcome> ReadOutcome(const std::filesystem::path& run, std::size_t index) {
  const auto name = std::to_string(index);
  if (!std::filesystem::exists(run / (name + ".code"))) return std::nullopt;
  return Outcome{SplitLines(support::ReadFile(run / (name + ".output"))),
                 std::stoi(support::ReadFile(run / (name + ".code")))};
}

/// What is wrong with one command's outcome; empty: nothing.
std::string Judge(const Command& command, const Outcome& outcome) {
  if (!Matches(command.expected, outcome.output))
    return "the output differs (exit code " + std::to_string(outcome.exit_code) + ")\n" +
           Difference(command.expected, outcome.output);
  if (command.expected.empty() && outcome.exit_code != 0)
    return "fails silently with exit code " + std::to_string(outcome.exit_code) + "\n";
  return {};
}

bool Names(const Page& page, std::string_view what) {
  return std::any_of(page.commands.begin(), page.commands.end(), [&](const Command& command) {
    return command.text.find(what) != std::string::npos;
  });
}

/// `for` and a count, or curl's `--retry`: an example that goes wrong ends all the same.
bool MayWaitForEver(const Command& command) {
  static const std::regex loop("(^|[;&|] *)(until|while) ");
  return std::regex_search(command.text, loop);
}

}  // namespace

std::vector<std::filesystem::path> AllPages() {
  const char* source = std::getenv("TENURE_SOURCE_DIR");
  if (source == nullptr) return {};  // --gtest_list_tests outside of ctest
  const std::filesystem::path root = source;
  std::vector<std::filesystem::path> pages{root / "README.md"};
  for (const auto& entry : std::filesystem::directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  std::sort(pages.begin(), pages.end());
  return pages;
}

bool IsIgnored(const std::string& name) {
  const char* source = std::getenv("TENURE_SOURCE_DIR");
  support::Process git({.argv = {"git", "-c", "safe.directory=*", "-C",
                                 source != nullptr ? source : ".", "check-ignore", "-q", name}});
  return git.Wait() == 0;
}

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

Page ParsePage(std::string_view markdown) {
  Page page;
  const auto lines = SplitLines(markdown);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto fence = FenceOf(lines[i]);
    if (!fence) continue;
    Block block{.fence = *fence, .line = static_cast<int>(i) + 1};
    const auto indent = lines[i].find_first_not_of(' ');  // a block inside a list
    for (++i; i < lines.size() && Trimmed(lines[i]) != kFence; ++i) {
      std::string_view line = lines[i];
      line.remove_prefix(std::min(line.find_first_not_of(' '), indent));
      block.lines.push_back(line);
    }
    if (i == lines.size())
      page.errors.push_back(std::to_string(block.line) + ": the block never ends");
    AddBlock(page, block);
  }
  for (const Program& program : page.programs)
    if (program.expected.empty())
      page.errors.push_back(std::to_string(program.line) +
                            ": a program is followed by a block ```output");
  return page;
}

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

std::vector<std::string> RunPage(const std::filesystem::path& path,
                                 const std::filesystem::path& tenure) {
  const auto page = ParsePage(support::ReadFile(path));
  const auto name = path.filename().string();
  std::vector<std::string> findings;
  for (const auto& error : page.errors) findings.push_back(name + ":" + error);
  for (const Command& command : page.commands)
    if (MayWaitForEver(command))
      findings.push_back(name + ":" + std::to_string(command.line) + ": may wait for ever");
  if (page.commands.empty()) return findings;

  const Workplace place(tenure, Names(page, "$PWD/build"));
  if (Names(page, "$PWD/examples"))
    std::filesystem::create_directory_symlink(support::SourceDir() / Workplace::kExamples,
                                              place.work / Workplace::kExamples);
  std::string database_url;
  if (Names(page, "$DATABASE_URL")) {
    support::PostgresCluster& postgres = support::SharedPostgres();
    database_url = postgres.Url(postgres.CreateDatabase());
  }
  std::optional<support::RedisServer> redis;
  if (Names(page, "$REDIS_URL")) redis.emplace();
  std::optional<support::Azurite> blobs;
  if (Names(page, "$AZBLOB_URL")) blobs.emplace();
  std::optional<support::CosmosServer> documents;
  if (Names(page, "$COSMOS_URL")) documents.emplace();
  const support::ServerProcess server(
      support::ServerOptions{.store_url = database_url, .binary = tenure});
  // What the page starts itself: a second server, a receiver of usage.
  const support::ReservedPort second_port, receiver_port;
  for (std::size_t i = 0; i < page.commands.size(); ++i) {
    std::string text = WithRealAddress(page.commands[i].text, "8080", server.Port());
    text = WithRealAddress(text, "8081", second_port.number());
    text = WithRealAddress(text, "9090", receiver_port.number());
    std::ofstream(place.run / (std::to_string(i) + ".command")) << text;
  }

  support::Process shell(
      {.argv = {"bash", "-c", kShell, "bash", std::to_string(page.commands.size()), place.run},
       .environment = {{"PATH", place.path},
                       {"HOME", place.work.string()},
                       {"TENURE_SERVER", server.Url()},
                       {"DATABASE_URL", database_url},
                       {"REDIS_URL", redis ? redis->Url() : ""},
                       {"REDIS_SOCKET", redis ? redis->socket().string() : ""},
                       {"AZBLOB_URL", blobs ? blobs->Url("leases", "create=1") : ""},
                       {"COSMOS_URL", documents ? documents->Url("leases", "create=1") : ""},
                       {"TENURE_AZURE_CONNECTION_STRING", blobs ? blobs->ConnectionString() : ""},
                       {"COSMOS_CONNECTION_STRING",
                        documents ? documents->ConnectionString() : ""}},
       .working_dir = place.work,
       .own_group = true});
  std::string ended_by;
  try {
    shell.Wait(kPageTimeout);
  } catch (const std::exception&) {
    ended_by = "does not end (the page has three minutes)";
    shell.Kill();
    shell.Wait();
  }

  for (std::size_t i = 0; i < page.commands.size(); ++i) {
    const auto& command = page.commands[i];
    const auto outcome = ReadOutcome(place.run, i);
    const auto what = outcome ? Judge(command, *outcome)
                              : (ended_by.empty() ? "ends the shell" : ended_by) + "\n";
    if (!what.empty())
      findings.push_back(name + ":" + std::to_string(command.line) + ": $ " + command.text +
                         "\n  " + what);
    if (!outcome) break;  // the ones behind it were not run
  }
  for (const std::string& left : LeftBehind(place.work))
    findings.push_back(name + ": leaves " + left + " behind, and git shows it");
  return findings;
}

}  // namespace tenure::docs
