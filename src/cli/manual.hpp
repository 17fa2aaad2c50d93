#pragma once

#include <string>
#include <string_view>

#include "cli/command.hpp"

namespace tenure::cli {

// Manual pages in mdoc, and the reference page of the commands: made from the rows that the program
// itself works by, so they cannot say anything else.

/// One file of the manual: "tenure-lease-list.1" and its text.
struct ManualPage {
  std::string file;
  std::string text;
};

/// tenure(1).
ManualPage ManualOfProgram(const Commands& commands);
/// tenure-lease-list(1).
ManualPage ManualOf(const Command& command);
/// tenure.yaml(5).
ManualPage ManualOfSettings();

/// docs/reference/commands.md.
std::string CommandReference(const Commands& commands);

/// `text` as it may stand in a line of mdoc, one sentence or at most 78 columns to a line.
std::string MdocText(std::string_view text);

}  // namespace tenure::cli
