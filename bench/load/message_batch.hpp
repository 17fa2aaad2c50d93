#pragma once

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace bench {

inline constexpr std::size_t kMessageBatch = 500;

inline std::string TopicName(std::uint64_t number) { return fmt::format("bench/{}", number); }

/// Some 200 bytes of JSON, as the peers have them (bench/peers/messages/common.mjs).
inline std::string MessagePayload(std::uint64_t number) {
  return fmt::format(
      R"({{"order":{},"customer":"customer-{}","note":"{}","at":"2026-01-01T00:00:00.000Z"}})",
      number, number % 1'000, std::string(128, 'x'));
}

}  // namespace bench
