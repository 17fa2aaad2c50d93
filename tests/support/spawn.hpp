#pragma once

#include <sys/types.h>

#include "support/process.hpp"

namespace tenure::support {

/// The files that become the child's standard output and error.
struct SpawnOutput {
  int standard_output;
  int standard_error;
};

/// Forks and executes; returns the pid when the new program is running, throws when it cannot be
/// executed. Thread-safe.
pid_t Spawn(const ProcessOptions& options, SpawnOutput output);

}  // namespace tenure::support
