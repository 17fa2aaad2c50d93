#include "cli/run.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/server.hpp"
#include "config/given.hpp"
#include "config/printable.hpp"
#include "telemetry/trace.hpp"

namespace tenure::cli {
namespace {

using Arguments = std::vector<std::string>;

constexpr std::size_t kPageColumns = 96;

constexpr std::string_view kWhat =
    R"(Tenure keeps track of everything that is held for a while: a user's session on a capacity,
a machine's seat on a license, a process's lease on a name. One server, on the database that
you trust already: embedded SQLite on one machine, PostgreSQL for an ensemble of processes.
)";

constexpr std::string_view kEnd = R"(
Examples:
  tenure serve
      serve on 127.0.0.1:8080, with the data in ./tenure-data
  tenure session put --user 6f1c9a52-0d2e-4a3b-9c41-7e5d8b1a2f30 \
                     --tenant 0b7e4d11-93c5-4f6a-8a77-2c9d5e3f1b08 \
                     --capacity d4a1f7c3-5b20-4e8d-b6f9-1a3c7e9d5b42 --kind standard
      give a user a session, or see the one that the user has
  tenure lease run nightly-report --wait 60s -- ./report
      run a command on one machine of many, while its lease is held
  tenure why lease nightly-report
      see who holds it, since when, until when, and what happens next

Exit codes: 0 done, 1 error, 2 the command line or the configuration is wrong, 3 not found,
            4 conflict, 5 nothing answers or it is busy: try again, 6 the lease was lost

`tenure COMMAND --help` says more about each. Settings: `tenure config reference`.
)";

struct Heading {
  Part part;
  std::string_view title;
};
constexpr std::array<Heading, 5> kHeadings{{
    {Part::kRun, "Run a server"},
    {Part::kAsk, "Ask a server"},
    {Part::kLookAfter, "Look after it"},
    {Part::kExplain, "Explain"},
    {Part::kShell, "Your shell"},
}};

std::string_view FirstWord(std::string_view words) { return words.substr(0, words.find(' ')); }

/// Two columns: `left`, and `right` broken at spaces into lines below each other.
void AppendRow(std::string& page, std::string_view left, std::string_view right, std::size_t at) {
  page += fmt::format("  {:<{}}", left, at - 2);
  if (left.size() + 4 > at) page += fmt::format("\n{:{}}", "", at);
  while (right.size() > kPageColumns - at) {
    std::size_t end = right.rfind(' ', kPageColumns - at);
    if (end == std::string_view::npos) break;
    page += fmt::format("{}\n{:{}}", right.substr(0, end), "", at);
    right.remove_prefix(end + 1);
  }
  page += fmt::format("{}\n", right);
}

/// What stands left of a flag's explanation: "--user UUID".
std::string Spelling(const Flag& flag) {
  switch (flag.kind) {
    case Flag::Kind::kArguments:
      return fmt::format("[{}…]", flag.name);
    case Flag::Kind::kValue:
    case Flag::Kind::kList:
      return fmt::format("{} {}", flag.name, flag.placeholder);
    case Flag::Kind::kRest:
      return fmt::format("-- {}", flag.name);
    default:
      return std::string(flag.name);
  }
}

bool IsArgument(const Flag& flag) {
  return flag.kind == Flag::Kind::kArgument || flag.kind == Flag::Kind::kArguments;
}

std::string UsageLine(const Command& command, const Flags& ordered) {
  std::string line = fmt::format("tenure {}", command.words);
  for (const Flag& flag : ordered)
    if (IsArgument(flag) || flag.required) line += fmt::format(" {}", Spelling(flag));
  line += " [flags]";
  if (!ordered.empty() && ordered.back().kind == Flag::Kind::kRest)
    line += fmt::format(" {}", Spelling(ordered.back()));
  return line + "\n";
}

/// How many of `arguments` are the command's words; 0 when they are not.
std::size_t WordsMatched(const Command& command, const Arguments& arguments) {
  std::string given;
  for (std::size_t count = 0; count < arguments.size() && given.size() < command.words.size();) {
    if (count > 0) given += ' ';
    given += arguments[count++];
    if (given == command.words) return count;
  }
  return 0;
}

bool AsksForHelp(const std::string& argument) {
  return argument == "--help" || argument == "-h" || argument == "help";
}

/// Names the command that was meant, when one is near.
UsageError NoSuchCommand(const Arguments& arguments, const Commands& commands) {
  std::vector<std::string> words;
  std::vector<std::string> groups;
  for (const Command& command : commands) {
    words.emplace_back(command.words);
    groups.emplace_back(command.words.substr(0, command.words.find(' ')));
  }
  const bool grouped = std::ranges::find(groups, arguments[0]) != groups.end();
  const std::string given =
      grouped && arguments.size() > 1 ? arguments[0] + ' ' + arguments[1] : arguments[0];
  std::optional<std::string> near = config::Nearest(given, words);
  if (!near) near = config::Nearest(arguments[0], groups);
  return UsageError(fmt::format("there is no command {}{}", config::Quoted(given),
                                near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
}

int RunCommand(const Command& command, Arguments arguments, Console& console) {
  if (const auto given = ParseFlags(command.flags, std::move(arguments)))
    return command.run(*given, console);
  console.out << CommandPage(command);
  return kExitDone;
}

/// Takes the flags of every command that asks a server from before the command's words:
/// `tenure --server URL lease list`.
Arguments TakeFlagsInFront(Arguments& arguments) {
  const Flags flags = ServerFlags();
  std::size_t count = 0;
  while (count < arguments.size()) {
    const std::string& argument = arguments[count];
    const auto flag = std::ranges::find(flags, argument.substr(0, argument.find('=')), &Flag::name);
    if (flag == flags.end()) break;
    const bool value_follows =
        flag->kind == Flag::Kind::kValue && argument.find('=') == std::string::npos;
    count = std::min(count + (value_follows ? 2 : 1), arguments.size());
  }
  const auto end = arguments.begin() + static_cast<std::ptrdiff_t>(count);
  Arguments taken(std::make_move_iterator(arguments.begin()), std::make_move_iterator(end));
  arguments.erase(arguments.begin(), end);
  return taken;
}

/// `tenure`, `tenure --help`, `tenure --version`, `tenure help session put`, `tenure session`.
std::optional<int> RunPage(const Arguments& arguments, const Commands& commands, Console& console) {
  if (arguments.empty()) {
    console.err << MainPage(commands);
    return kExitUsage;
  }
  const std::string& first = arguments.front();
  if (first == "--version" || first == "version") {
    console.out << "tenure " << TENURE_VERSION << "\n";
    return kExitDone;
  }
  if (AsksForHelp(first)) {
    if (arguments.size() == 1) {
      console.out << MainPage(commands);
      return kExitDone;
    }
    Arguments asked(arguments.begin() + 1, arguments.end());
    asked.emplace_back("--help");
    return Run(asked, commands, console);
  }
  const std::string group = GroupPage(first, commands);
  const bool help = arguments.size() > 1 && AsksForHelp(arguments[1]);
  if (group.empty() || (arguments.size() > 1 && !help)) return std::nullopt;
  (help ? console.out : console.err) << group;
  return help ? kExitDone : kExitUsage;
}

int Dispatch(Arguments arguments, const Commands& commands, Console& console) {
  Arguments in_front = TakeFlagsInFront(arguments);
  if (const std::optional<int> exit = RunPage(arguments, commands, console)) return *exit;
  const auto matched = [&](const Command& command) { return WordsMatched(command, arguments); };
  const auto longest = std::ranges::max_element(commands, {}, matched);
  if (matched(*longest) == 0)
    throw UsageError(NoSuchCommand(arguments, commands).what() +
                     std::string("\nSee `tenure --help`."));
  const auto rest = arguments.begin() + static_cast<std::ptrdiff_t>(matched(*longest));
  in_front.insert(in_front.end(), rest, arguments.end());
  try {
    return RunCommand(*longest, std::move(in_front), console);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}\nSee `tenure {} --help`.", error.what(), longest->words));
  }
}

}  // namespace

Flags InOrder(Flags flags) {
  std::ranges::stable_sort(flags, {}, &Flag::kind);
  return flags;
}

std::string MainPage(const Commands& commands) {
  std::string page(kWhat);
  page += "\nUsage: tenure COMMAND [flags]\n";
  for (const Heading& heading : kHeadings) {
    page += fmt::format("\n{}:\n", heading.title);
    for (const Command& command : commands)
      if (command.part == heading.part) AppendRow(page, command.words, command.summary, 26);
  }
  page += kEnd;
  return page;
}

std::string GroupPage(std::string_view group, const Commands& commands) {
  std::string rows;
  for (const Command& command : commands)
    if (command.words != group && FirstWord(command.words) == group)
      AppendRow(rows, command.words, command.summary, 26);
  if (rows.empty()) return {};
  return fmt::format(
      "Usage: tenure {} COMMAND [flags]\n\n{}\n`tenure {} COMMAND --help` says more.\n", group,
      rows, group);
}

std::string CommandPage(const Command& command) {
  constexpr std::size_t kAt = 24;
  const Flags ordered = InOrder(command.flags);
  std::string page =
      fmt::format("{}.\n\nUsage: {}\n", command.summary, UsageLine(command, ordered));
  const auto append = [&](bool rest) {
    for (const Flag& flag : ordered)
      if ((flag.kind == Flag::Kind::kRest) == rest) AppendRow(page, Spelling(flag), flag.does, kAt);
  };
  append(false);
  AppendRow(page, "--help", "Print this page.", kAt);
  append(true);
  if (!command.notes.empty()) page += "\n" + command.notes;
  return page;
}

int Run(const std::vector<std::string>& arguments, const Commands& commands, Console& console) {
  const auto fail = [&](const std::exception& error, int exit) {
    console.err << "tenure: " << error.what() << "\n";
    return exit;
  };
  // A command that a traced script runs is part of its trace.
  const char* const trace = std::getenv("TRACEPARENT");
  const telemetry::TraceScope scope(telemetry::ParseTraceParent(trace ? trace : ""));
  try {
    return Dispatch(arguments, commands, console);
  } catch (const UsageError& error) {
    return fail(error, kExitUsage);
  } catch (const config::SettingsError& error) {
    console.err << "tenure: the configuration is wrong:\n" << error.what() << "\n";
    return kExitUsage;
  } catch (const base::UserError& error) {
    return fail(error, kExitError);
  } catch (const base::Fault& fault) {
    return fail(fault, fault.retryable() ? kExitUnavailable : kExitError);
  } catch (const std::exception& error) {
    return fail(error, kExitError);
  }
}

}  // namespace tenure::cli
