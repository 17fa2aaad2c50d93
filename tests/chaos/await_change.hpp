#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace tenure::chaos {

/// Until it has another value than `from`, and no longer than a server may be away.
inline void AwaitChange(const std::atomic<int>& number, int from) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (number == from && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace tenure::chaos
