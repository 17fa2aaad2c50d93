#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "support/temp_dir.hpp"

namespace tenure::support {

/// The calendar of a program that asks gettimeofday (a Redis does), to be moved while it runs.
class MovedClock {
 public:
  MovedClock() { Move(0); }

  /// By so much it differs from the machine's from now on.
  void Move(std::int64_t ms) const {
    // In place: whoever has mapped the file sees it.
    std::fstream file(path(), std::ios::binary | std::ios::in | std::ios::out);
    if (!file) file.open(path(), std::ios::binary | std::ios::out);
    const std::int64_t us = ms * 1'000;
    file.write(reinterpret_cast<const char*>(&us), sizeof us);
  }
  /// Of the program. REQUIRES: the test's MOVED_CLOCK_LIBRARY names moved_clock.cpp's library.
  std::vector<std::pair<std::string, std::string>> Environment() const {
    return {{"LD_PRELOAD", std::getenv("MOVED_CLOCK_LIBRARY")}, {"MOVED_CLOCK_FILE", path()}};
  }

 private:
  std::string path() const { return dir_ / "offset"; }
  const TempDir dir_;
};

}  // namespace tenure::support
