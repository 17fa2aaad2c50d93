#pragma once

#include <cstdint>

namespace tenure::client {

/// How often this process's line of ancestors forked since the first holder was made: what was made
/// in another generation belongs to the parent. A load and no system call.
std::uint64_t ForkGeneration() noexcept;

/// From now on forks are counted, and descriptors that `CloseAfterFork` names are closed in the
/// child (a lock on a file would live on in it otherwise).
void WatchForks();
void CloseAfterFork(int fd);
void ForgetAfterFork(int fd);

}  // namespace tenure::client
