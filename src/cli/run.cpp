#include "cli/run.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "cli/command.hpp"
#include "cli/look.hpp"
#include "cli/pages.hpp"
#include "cli/server.hpp"
#include "cli/watch.hpp"
#include "config/given.hpp"
#include "config/printable.hpp"
#include "telemetry/trace.hpp"

namespace tenure::cli {
namespace {

using Arguments = std::vector<std::string>;

/// How many of `arguments` are these words; 0 when they are not.
std::size_t WordsMatched(std::string_view words, const Arguments& arguments) {
  std::string given;
  for (std::size_t count = 0; count < arguments.size() && given.size() < words.size();) {
    if (count > 0) given += ' ';
    given += arguments[count++];
    if (given == words) return count;
  }
  return 0;
}
std::size_t WordsMatched(const Command& command, const Arguments& arguments) {
  return std::max(WordsMatched(command.words, arguments), WordsMatched(command.also, arguments));
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
  std::optional<Given> given = ParseFlags(command.flags, std::move(arguments));
  if (!given) {
    console.out << CommandPage(command);
    return kExitDone;
  }
  const Look look = LookOf(*given, console);
  const bool json = given->Has("--json");
  std::optional<LookBuffer> buffer;
  if (!json && (look.colour || look.local)) buffer.emplace(*console.out.rdbuf(), look);
  std::ostream painted(buffer ? &*buffer : console.out.rdbuf());
  Console dressed{.out = painted,
                  .err = console.err,
                  .out_is_terminal = console.out_is_terminal,
                  .err_is_terminal = console.err_is_terminal,
                  .person = console.person,
                  .measure = console.measure,
                  .out_fd = console.out_fd,
                  .quiet = given->Has("--quiet")};
  given->SetConsole(dressed);
  const std::string* const every = given->Find("--watch");
  const int exit = every == nullptr ? command.run(*given, dressed)
                                    : Watch(ToNumber(*every), json, dressed, [&](Console& once) {
                                        return command.run(*given, once);
                                      });
  // Whoever looks at the end whether all was written looks at the console's own stream.
  if (!painted || (buffer && buffer->failed())) console.out.setstate(std::ios::badbit);
  return exit;
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
