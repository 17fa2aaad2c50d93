#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "app/cli/commands.hpp"
#include "cli/command.hpp"
#include "cli/run.hpp"

namespace {

/// What was closed before this program began would else be the next file or connection that is
/// opened, and output would go there. Writing to it fails, as to what is closed.
void KeepStandardFiles() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

tenure::cli::Screen Measure() {
  winsize size{};
  tenure::cli::Screen screen;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0)
    screen = {.columns = size.ws_col, .rows = size.ws_row};
  return screen;
}

}  // namespace

int main(int argc, char** argv) {
  KeepStandardFiles();
  // `tenure … | head -1` ends quietly, whatever the program that started it ignores.
  std::signal(SIGPIPE, SIG_DFL);
  const bool asked_by_person = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
  tenure::cli::Console console{.out = std::cout,
                               .err = std::cerr,
                               .out_is_terminal = isatty(STDOUT_FILENO) == 1,
                               .err_is_terminal = isatty(STDERR_FILENO) == 1,
                               .person = asked_by_person ? &std::cin : nullptr,
                               .measure = isatty(STDOUT_FILENO) == 1 ? Measure : nullptr,
                               .out_fd = STDOUT_FILENO};
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const int exit = tenure::cli::Run(arguments, tenure::app::AllCommands(), console);
  // A full disk must not look like a finished command.
  if (!std::cout.flush() && exit == tenure::cli::kExitDone) {
    std::cerr << "tenure: the output could not be written\n";
    return tenure::cli::kExitError;
  }
  return exit;
}
