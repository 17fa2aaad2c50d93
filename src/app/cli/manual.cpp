// `tenure manual`: manual pages, and the reference page of the commands.

#include "cli/manual.hpp"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "app/cli/commands.hpp"
#include "base/error.hpp"

namespace tenure::app {
namespace {

/// FOLDER/man1/tenure.1, as `man -M FOLDER` finds it.
void WritePage(const std::filesystem::path& folder, const cli::ManualPage& page) {
  const std::filesystem::path section = folder / fmt::format("man{}", page.file.back());
  std::error_code failed;
  std::filesystem::create_directories(section, failed);
  std::ofstream file(section / page.file, std::ios::trunc);
  file << page.text;
  if (!file.flush())
    throw base::UserError(fmt::format("{} cannot be written", (section / page.file).string()));
}

int WritePages(const cli::Given& given, cli::Console&) {
  const cli::Commands all = AllCommands();
  const std::filesystem::path folder = given.Text("FOLDER");
  WritePage(folder, cli::ManualOfProgram(all));
  WritePage(folder, cli::ManualOfSettings());
  for (const cli::Command& command : all) WritePage(folder, cli::ManualOf(command));
  return cli::kExitDone;
}

}  // namespace

cli::Commands ManualCommands() {
  using namespace cli;  // the words of its table
  return {{.words = "manual pages",
           .summary = "Write the manual pages into a folder",
           .notes = "tenure(1), one for each command, tenure.yaml(5): in the words of --help.\n\n"
                    "Example:\n  tenure manual pages ./manual && man -M ./manual tenure\n",
           .flags = {Argument("FOLDER", "Where to; made when it is not there.")},
           .run = WritePages,
           .part = Part::kShell},
          {.words = "manual reference",
           .summary = "Print the reference page of all commands",
           .notes = "Example:\n  tenure manual reference > docs/reference/commands.md\n",
           .flags = {},
           .run =
               [](const Given&, Console& console) {
                 console.out << CommandReference(AllCommands());
                 return kExitDone;
               },
           .part = Part::kShell}};
}

}  // namespace tenure::app
