#include "cli/pages.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/server.hpp"

namespace tenure::cli {
namespace {

constexpr std::size_t kPageColumns = 96;
constexpr std::size_t kAt = 24;  // where the explanations of flags begin

constexpr std::string_view kWhat =
    R"(Tenure keeps track of everything that is held for a while: a process's lease on a name, a
worker's claim on a message, a machine's seat on a license, a user's session. One server, on the
database that you trust already: embedded SQLite on one machine, PostgreSQL for many processes.
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
            4 conflict, 5 nothing answers or it is busy: try again, 6 the lease was lost,
            7 something needs attention, 130 interrupted

`tenure COMMAND --help` says more about each. Settings: `tenure config reference`.
)";

constexpr std::array<PartTitle, 5> kHeadings{{
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

bool IsArgument(const Flag& flag) {
  return flag.kind == Flag::Kind::kArgument || flag.kind == Flag::Kind::kArguments;
}

}  // namespace

std::span<const PartTitle> PartTitles() { return kHeadings; }

std::string Spelling(const Flag& flag) {
  switch (flag.kind) {
    case Flag::Kind::kArguments:
      return fmt::format("[{}…]", flag.name);
    case Flag::Kind::kValue:
    case Flag::Kind::kList:
      return fmt::format("{} {}", flag.name, flag.placeholder);
    case Flag::Kind::kMaybe:
      return fmt::format("{}[={}]", flag.name, flag.placeholder);
    case Flag::Kind::kRest:
      return fmt::format("-- {}", flag.name);
    default:
      return std::string(flag.name);
  }
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

bool AsksServer(const Command& command) {
  return std::ranges::find(command.flags, "--insecure", &Flag::name) != command.flags.end();
}

Flags InOrder(Flags flags) {
  std::ranges::stable_sort(flags, {}, &Flag::kind);
  return flags;
}

std::string MainPage(const Commands& commands) {
  std::string page(kWhat);
  page += "\nUsage: tenure COMMAND [flags]\n";
  for (const PartTitle& heading : kHeadings) {
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

namespace {

/// The flags that stand below all others: what every command has that asks a server.
bool IsCommon(const Command& command, const Flag& flag) {
  static const Flags common = ServerFlags();
  return AsksServer(command) && std::ranges::find(common, flag.name, &Flag::name) != common.end();
}

}  // namespace

std::string MainSentence() { return std::string(kWhat); }

std::string CommonFlags() {
  std::string rows;
  for (const Flag& flag : InOrder(ServerFlags())) AppendRow(rows, Spelling(flag), flag.does, kAt);
  return rows;
}

std::string OwnFlags(const Command& command) {
  const Flags ordered = InOrder(command.flags);
  std::string page = fmt::format("Usage: {}\n", UsageLine(command, ordered));
  const auto append = [&](bool rest) {
    for (const Flag& flag : ordered)
      if ((flag.kind == Flag::Kind::kRest) == rest && !IsCommon(command, flag))
        AppendRow(page, Spelling(flag), flag.does, kAt);
  };
  append(false);
  AppendRow(page, "--help", "Print this page.", kAt);
  append(true);
  return page;
}

std::string CommandPage(const Command& command) {
  std::string page = fmt::format("{}.\n\n{}", command.summary, OwnFlags(command));
  if (AsksServer(command)) page += "\nWhom to ask, and how to print:\n" + CommonFlags();
  if (!command.notes.empty()) page += "\n" + command.notes;
  return page;
}

}  // namespace tenure::cli
