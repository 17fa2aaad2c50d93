#include <unistd.h>

#include <iostream>
#include <string>
#include <vector>

#include "app/cli/console.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/run.hpp"

int main(int argc, char** argv) {
  const bool asked_by_person = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
  tenure::app::Console console{std::cout, std::cerr, isatty(STDOUT_FILENO) == 1,
                               asked_by_person ? &std::cin : nullptr};
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const int exit = tenure::app::Run(arguments, console);
  // A full disk must not look like a finished command.
  if (!std::cout.flush() && exit == tenure::app::kExitDone) {
    std::cerr << "tenure: the output could not be written\n";
    return tenure::app::kExitError;
  }
  return exit;
}
