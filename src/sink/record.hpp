#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_writer.hpp"
#include "base/uuid.hpp"

namespace tenure::sink {

/// The largest number of a window: whole numbers in JSON are exact up to here.
inline constexpr std::int64_t kMaxWindow = (1LL << 53) - 1;

/// More than any record can have: with the largest factor, 10^9, a window of an hour stays far
/// below it.
inline constexpr std::int64_t kMaxRecordMicros = 100'000'000'000'000;

/// Usage in millionths, from the one spelling that it has on the way: "12.345678", no superfluous
/// zero in front, exactly six places. Empty when it is anything else.
std::optional<std::int64_t> ParseMicros(std::string_view text);

/// One line of usage: what a session used in a window. (session, window) is its key; whatever else
/// it says, it says the same each time it comes.
struct Record {
  base::Uuid session{};
  std::int64_t window = 0;
  base::Uuid user{};
  base::Uuid tenant{};
  base::Uuid capacity{};
  std::int64_t kind = 0;
  std::int64_t start_ms = 0;
  std::int64_t end_ms = 0;
  std::int64_t usage = 0;  ///< micro-units

  friend bool operator==(const Record&, const Record&) = default;
};

inline constexpr std::size_t kMaxRecords = 1'000;

/// The body of POST /usages: an array of 1 to kMaxRecords records. Throws ProblemError 400 that
/// names each field which is not exactly as it must be, "records[3].usage", and a key that stands
/// there twice.
std::vector<Record> ReadRecords(std::string_view body);

/// "17-0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071".
std::string RecordId(const Record& record);

void WriteRecord(base::JsonWriter& json, const Record& record);

}  // namespace tenure::sink
