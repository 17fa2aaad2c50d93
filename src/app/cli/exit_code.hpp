#pragma once

namespace tenure::app {

// What the program's end tells a script. They stand in `tenure --help`: once given, never changed.
inline constexpr int kExitDone = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitUsage = 2;  ///< the command line or the configuration is wrong
inline constexpr int kExitNotFound = 3;
inline constexpr int kExitConflict = 4;
inline constexpr int kExitUnavailable = 5;  ///< nothing answers, or it is busy: try again
inline constexpr int kExitLost = 6;  ///< `lease run`: the lease was lost while the command ran

}  // namespace tenure::app
