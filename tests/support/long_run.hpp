#pragma once

#include <cstdlib>

namespace tenure::support {

/// Whether this is `./test --long`: hours are there to be used.
inline bool IsLongRun() { return std::getenv("TENURE_TEST_LONG") != nullptr; }

}  // namespace tenure::support
