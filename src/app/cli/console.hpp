#pragma once

#include <ostream>

namespace tenure::app {

/// Where a command writes: results to `out`, everything else to `err`. Tests give it string
/// streams.
struct Console {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
};

}  // namespace tenure::app
