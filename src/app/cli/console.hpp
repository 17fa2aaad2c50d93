#pragma once

#include <istream>
#include <ostream>

namespace tenure::app {

/// Where a command writes: results to `out`, everything else to `err`; and whom it may ask. Tests
/// give it string streams.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  std::istream* person = nullptr;  ///< who sits at the terminal; null: nobody can be asked
};

}  // namespace tenure::app
