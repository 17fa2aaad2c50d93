#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "jobs/calendar/zone.hpp"
#include "support/temp_dir.hpp"

namespace tenure::sim {

/// tzdata with one zone, Sim/Zone, in one of two versions, "a" and "b": so many seconds ahead of UTC.
class SimulatedZones {
 public:
  static constexpr const char* kZone = "Sim/Zone";

  /// cctz keeps what it has read for as long as the program runs. So both versions are read at once: which one a
  /// process finds must not depend on when somebody asked for the zone first.
  SimulatedZones(std::int32_t a_seconds, std::int32_t b_seconds)
      : a_seconds_(a_seconds), b_seconds_(b_seconds) {
    std::filesystem::create_directories(dir_ / "Sim");
    for (const char* version : {"b", "a"}) {
      Use(version);
      static_cast<void>(jobs::calendar::Zones(folder()).Find(kZone));
    }
  }

  void Use(const std::string& version) {
    std::ofstream(dir_ / kZone) << ZoneFile(SecondsOf(version));
    std::ofstream(dir_ / "tzdata.zi") << "# version " << version << "\nZ Sim/Zone 1 - %z\n";
  }
  std::string folder() const { return dir_.path().string(); }
  std::int64_t OffsetMs(const std::string& version) const {
    return std::int64_t{1'000} * SecondsOf(version);
  }

 private:
  std::int32_t SecondsOf(const std::string& version) const {
    return version == "a" ? a_seconds_ : b_seconds_;
  }

  /// A zone that is always so far from UTC, as TZif has it (RFC 9636).
  static std::string ZoneFile(std::int32_t seconds) {
    const auto number = [](std::uint32_t value) {
      std::string bytes;
      for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(value >> shift & 0xFF);
      return bytes;
    };
    // One type of local time, no change between two, and the four bytes of its name.
    std::string block = "TZif2" + std::string(15, '\0');
    for (const std::uint32_t count : {0u, 0u, 0u, 0u, 1u, 4u}) block += number(count);
    block += number(static_cast<std::uint32_t>(seconds)) + std::string(2, '\0');
    block += std::string("SIM\0", 4);
    return block + block +
           fmt::format("\nSIM-{}:{:02}:{:02}\n", seconds / 3'600, seconds / 60 % 60, seconds % 60);
  }

  const std::int32_t a_seconds_;
  const std::int32_t b_seconds_;
  support::TempDir dir_{support::Storage::kMemory};
};

}  // namespace tenure::sim
