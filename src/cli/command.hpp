#pragma once

#include <cstddef>
#include <functional>
#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "cli/flags.hpp"

namespace tenure::cli {

// What the program's end tells a script. They stand in `tenure --help`: once given, never changed.
inline constexpr int kExitDone = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitUsage = 2;  ///< the command line or the configuration is wrong
inline constexpr int kExitNotFound = 3;
inline constexpr int kExitConflict = 4;
inline constexpr int kExitUnavailable = 5;  ///< nothing answers, or it is busy: try again
inline constexpr int kExitLost = 6;       ///< `lease run`: the lease was lost while the command ran
inline constexpr int kExitAttention = 7;  ///< `status`, `doctor`: something needs attention

/// How much of a text people see at once.
struct Screen {
  std::size_t columns = 100;
  std::size_t rows = 24;
};

/// Where a command writes: results to `out`, everything else to `err`; and whom it may ask. Tests
/// give it string streams.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  std::istream* person = nullptr;  ///< who sits at the terminal; null: nobody can be asked
  Screen (*measure)() = nullptr;   ///< how large the terminal is by now; null: there is none
  int out_fd = -1;                 ///< of `out`, to see that its reader has gone; -1: not known
  bool quiet = false;              ///< notes are left out

  Screen screen() const { return measure == nullptr ? Screen{} : measure(); }
  /// For people beside the result: what is not there, how to go on. It ends its own line.
  void Note(std::string_view text) const {
    if (!quiet) err << text;
  }
};

/// A part of the main help page.
enum class Part { kRun, kAsk, kLookAfter, kExplain, kShell };

struct View;

/// One command of the program, "session put", as a row of data. Those that ask a server one thing
/// or list what it has are made from less (question.hpp).
struct Command {
  std::string_view words;    ///< one to three
  std::string_view summary;  ///< for lists: a phrase without a full stop
  std::string notes;         ///< paragraphs below the flags: what to know, examples. May be empty
  Flags flags;
  /// Returns the exit code. Throws UsageError, base::UserError or base::Fault.
  std::function<int(const Given&, Console&)> run;
  Part part = Part::kAsk;
  std::shared_ptr<const View> view = {};  ///< its screen of `tenure top`; null: it has none
  std::string_view also = {};             ///< other words for it, which stand in no list
};
using Commands = std::vector<Command>;

}  // namespace tenure::cli
