#include "app/cli/run.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/help.hpp"
#include "app/cli/parse_flags.hpp"
#include "app/cli/usage_error.hpp"
#include "base/error.hpp"
#include "config/printable.hpp"
#include "config/problem.hpp"
#include "config/suggest.hpp"
#include "telemetry/trace.hpp"

namespace tenure::app {
namespace {

using Arguments = std::vector<std::string>;

/// How many of `arguments` are the command's words; 0 when they are not.
std::size_t WordsMatched(const Command& command, const Arguments& arguments) {
  std::string given;
  for (std::size_t count = 0; count < arguments.size() && given.size() < command.words().size();) {
    if (count > 0) given += ' ';
    given += arguments[count++];
    if (given == command.words()) return count;
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
  for (const auto& command : commands) {
    words.emplace_back(command->words());
    groups.emplace_back(command->words().substr(0, command->words().find(' ')));
  }
  const bool grouped = std::ranges::find(groups, arguments[0]) != groups.end();
  const std::string given =
      grouped && arguments.size() > 1 ? arguments[0] + ' ' + arguments[1] : arguments[0];
  std::optional<std::string> near = config::Nearest(given, words);
  if (!near) near = config::Nearest(arguments[0], groups);
  return UsageError(fmt::format("there is no command {}{}", config::Quoted(given),
                                near ? fmt::format("; did you mean \"{}\"?", *near) : ""));
}

int RunCommand(Command& command, Arguments arguments, Console& console) {
  Flags flags;
  command.Declare(flags);
  if (ParseFlags(flags, std::move(arguments)) == Parsed::kRun) return command.Run(console);
  console.out << CommandPage(command, flags);
  return kExitDone;
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
    return Run(asked, console);
  }
  const std::string group = GroupPage(first, commands);
  const bool help = arguments.size() > 1 && AsksForHelp(arguments[1]);
  if (group.empty() || (arguments.size() > 1 && !help)) return std::nullopt;
  (help ? console.out : console.err) << group;
  return help ? kExitDone : kExitUsage;
}

int Dispatch(const Arguments& arguments, Console& console) {
  const Commands commands = AllCommands();
  if (const std::optional<int> exit = RunPage(arguments, commands, console)) return *exit;
  const auto matched = [&](const auto& command) { return WordsMatched(*command, arguments); };
  const auto longest = std::ranges::max_element(commands, {}, matched);
  if (matched(*longest) == 0)
    throw UsageError(NoSuchCommand(arguments, commands).what() +
                     std::string("\nSee `tenure --help`."));
  const auto rest = arguments.begin() + static_cast<std::ptrdiff_t>(matched(*longest));
  try {
    return RunCommand(**longest, Arguments(rest, arguments.end()), console);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}\nSee `tenure {} --help`.", error.what(), (*longest)->words()));
  }
}

}  // namespace

int Run(const std::vector<std::string>& arguments, Console& console) {
  const auto fail = [&](const std::exception& error, int exit) {
    console.err << "tenure: " << error.what() << "\n";
    return exit;
  };
  // A command that a traced script runs is part of its trace.
  const char* const trace = std::getenv("TRACEPARENT");
  const telemetry::TraceScope scope(telemetry::ParseTraceParent(trace ? trace : ""));
  try {
    return Dispatch(arguments, console);
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

}  // namespace tenure::app
