#include "docs/page_runner.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <regex>

#include "docs/expectation.hpp"
#include "docs/lines.hpp"
#include "docs/page.hpp"
#include "support/postgres_cluster.hpp"
#include "support/server_process.hpp"
#include "support/sink_process.hpp"
#include "support/temp_dir.hpp"

namespace tenure::docs {
namespace {

constexpr auto kPageTimeout = std::chrono::minutes(3);

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

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

  explicit Workplace(const std::filesystem::path& tenure) {
    for (const auto& folder : {bin, work, run}) std::filesystem::create_directory(folder);
    std::filesystem::create_symlink(tenure, bin / "tenure");
    const char* source = std::getenv("TENURE_SOURCE_DIR");
    if (source != nullptr && std::filesystem::exists(std::filesystem::path(source) / "examples"))
      std::filesystem::create_symlink(std::filesystem::path(source) / "examples",
                                      work / "examples");
  }
};

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
  return Outcome{SplitLines(ReadFile(run / (name + ".output"))),
                 std::stoi(ReadFile(run / (name + ".code")))};
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

}  // namespace

std::vector<std::string> RunPage(const std::filesystem::path& path,
                                 const std::filesystem::path& tenure) {
  const auto page = ParsePage(ReadFile(path));
  const auto name = path.filename().string();
  std::vector<std::string> findings;
  for (const auto& error : page.errors) findings.push_back(name + ":" + error);
  if (page.commands.empty()) return findings;

  const Workplace place(tenure);
  std::string database_url;
  if (Names(page, "$DATABASE_URL")) {
    support::PostgresCluster& postgres = support::SharedPostgres();
    database_url = postgres.Url(postgres.CreateDatabase());
  }
  std::unique_ptr<support::SinkProcess> sink;
  support::ServerOptions options{.store_url = database_url, .binary = tenure};
  if (Names(page, "127.0.0.1:9090")) {
    sink = std::make_unique<support::SinkProcess>(support::SinkOptions{.binary = tenure});
    options.environment = {{"TENURE_USAGE_ENDPOINT", sink->Endpoint()},
                           {"TENURE_USAGE_INTERVAL", "1s"}};
  }
  const support::ServerProcess server(std::move(options));
  for (std::size_t i = 0; i < page.commands.size(); ++i) {
    std::string text = WithRealAddress(page.commands[i].text, "8080", server.Port());
    if (sink) text = WithRealAddress(text, "9090", sink->Port());
    std::ofstream(place.run / (std::to_string(i) + ".command")) << text;
  }

  const char* old_path = std::getenv("PATH");
  support::Process shell(
      {.argv = {"bash", "-c", kShell, "bash", std::to_string(page.commands.size()), place.run},
       .environment = {{"PATH", place.bin.string() + ":" + (old_path != nullptr ? old_path : "")},
                       {"HOME", place.work.string()},
                       {"TENURE_SERVER", server.Url()},
                       {"DATABASE_URL", database_url}},
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
  return findings;
}

}  // namespace tenure::docs
