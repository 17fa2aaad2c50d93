#include "app/cli/help.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tenure::app {
namespace {

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

/// A part of the main page and the first words of the commands below it.
struct Heading {
  std::string_view title;
  std::array<std::string_view, 6> first_words;
};
constexpr std::array<Heading, 5> kHeadings{{
    {"Run a server", {"serve", "migrate", "usage-sink"}},
    {"Ask a server", {"lease", "message", "session", "task", "timer", "usage"}},
    {"Look after it", {"audit", "config", "admin", "token"}},
    {"Explain", {"why"}},
    {"Your shell", {"completion"}},
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

std::string UsageLine(const Command& command, const Flags& flags) {
  std::string line = fmt::format("tenure {}", command.words());
  for (const Flags::Argument& argument : flags.arguments())
    line += fmt::format(" {}", argument.name);
  for (const Flags::Value& value : flags.values())
    if (value.need == Flags::Need::kRequired)
      line += fmt::format(" {} {}", value.name, value.placeholder);
  line += " [flags]";
  if (flags.rest()) line += fmt::format(" -- {}", flags.rest()->name);
  return line + "\n";
}

}  // namespace

std::string MainPage(const Commands& commands) {
  std::string page(kWhat);
  page += "\nUsage: tenure COMMAND [flags]\n";
  for (const Heading& heading : kHeadings) {
    page += fmt::format("\n{}:\n", heading.title);
    for (const auto& command : commands)
      if (std::ranges::find(heading.first_words, FirstWord(command->words())) !=
          heading.first_words.end())
        AppendRow(page, command->words(), command->summary(), 26);
  }
  page += kEnd;
  return page;
}

std::string GroupPage(std::string_view group, const Commands& commands) {
  std::string rows;
  for (const auto& command : commands)
    if (command->words() != group && FirstWord(command->words()) == group)
      AppendRow(rows, command->words(), command->summary(), 26);
  if (rows.empty()) return {};
  return fmt::format(
      "Usage: tenure {} COMMAND [flags]\n\n{}\n`tenure {} COMMAND --help` says more.\n", group,
      rows, group);
}

std::string CommandPage(const Command& command, const Flags& flags) {
  constexpr std::size_t kAt = 24;
  std::string page =
      fmt::format("{}.\n\nUsage: {}\n", command.summary(), UsageLine(command, flags));
  for (const Flags::Argument& argument : flags.arguments())
    AppendRow(page, argument.name, argument.does, kAt);
  for (const Flags::Value& value : flags.values())
    AppendRow(page, fmt::format("{} {}", value.name, value.placeholder), value.does, kAt);
  for (const Flags::List& list : flags.lists())
    AppendRow(page, fmt::format("{} {}", list.name, list.placeholder), list.does, kAt);
  for (const Flags::Switch& one : flags.switches()) AppendRow(page, one.name, one.does, kAt);
  AppendRow(page, "--help", "Print this page.", kAt);
  if (flags.rest())
    AppendRow(page, fmt::format("-- {}", flags.rest()->name), flags.rest()->does, kAt);
  if (const std::string notes = command.notes(); !notes.empty()) page += "\n" + notes;
  return page;
}

}  // namespace tenure::app
