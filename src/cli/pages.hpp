#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command.hpp"

namespace tenure::cli {

/// `tenure --help`: what Tenure is, its commands by parts, examples, exit codes.
std::string MainPage(const Commands& commands);

/// `tenure session`: the commands that start with one word. Empty when there are none.
std::string GroupPage(std::string_view group, const Commands& commands);

/// `tenure session put --help`.
std::string CommandPage(const Command& command);

/// The flags in the order of the help page: arguments, values, lists, switches, the rest.
Flags InOrder(Flags flags);

/// Its usage, and its flags without those of every command that asks a server.
std::string OwnFlags(const Command& command);
/// The flags of every command that asks a server, in rows.
std::string CommonFlags();
/// What Tenure is.
std::string MainSentence();

/// What stands left of a flag's explanation: "--user UUID".
std::string Spelling(const Flag& flag);

/// "tenure session put --user UUID … [flags]", with a line's end. `ordered` are its flags InOrder.
std::string UsageLine(const Command& command, const Flags& ordered);

/// Whether it has the flags of a command that asks a server.
bool AsksServer(const Command& command);

struct PartTitle {
  Part part;
  std::string_view title;
};
/// The parts of the main page, in their order.
std::span<const PartTitle> PartTitles();

}  // namespace tenure::cli
