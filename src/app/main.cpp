#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "app/cli/commands.hpp"
#include "cli/command.hpp"
#include "cli/run.hpp"

int main(int argc, char** argv) {
  const bool asked_by_person = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
  tenure::cli::Console console{std::cout, std::cerr, isatty(STDOUT_FILENO) == 1,
                               asked_by_person ? &std::cin : nullptr};
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const int exit = tenure::cli::Run(arguments, tenure::app::AllCommands(), console);
  // A full disk must not look like a finished command.
  if (!std::cout.flush() && exit == tenure::cli::kExitDone) {
    std::cerr << "tenure: the output could not be written\n";
    return tenure::cli::kExitError;
  }
  return exit;
}
