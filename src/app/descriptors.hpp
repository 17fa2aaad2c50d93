#pragma once

namespace tenure::app {

/// Descriptors that are not for clients of the main listener: the store's connections and files, the
/// listener for operators, loops, logs and outgoing requests.
inline constexpr int kReservedDescriptors = 192;

/// Raises this process's soft limit of open files to what `connections` clients need, or to the hard
/// limit when that is lower.
void RaiseDescriptorLimit(int connections);

/// How many of `connections` clients the limit of open files has room for, beside `others` that are
/// opened for something else; says so when it is fewer. The store's connections come first: a client
/// that is one too many is told so, a store without a descriptor stops everybody.
int ConnectionsWithinLimit(int connections, int others);

}  // namespace tenure::app
