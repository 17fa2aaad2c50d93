#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/glance.hpp"
#include "http/message.hpp"
#include "overview/instances.hpp"

namespace tenure::overview {

/// All that the overview shows, as it was gathered last.
struct Board {
  std::int64_t counted_ms = 0;
  std::vector<std::pair<std::string_view, std::vector<explain::Figure>>>
      figures{};  ///< by capability
  std::vector<explain::Concern> concerns{};
  std::vector<Instance> instances{};
  std::string hour = "null";  ///< the series, as JSON
  std::string day = "null";
};

/// The answer without `now`, as one asker gets it; its first byte is behind the brace.
std::string RestOfBoard(const Board& board, const http::Principal& asker, bool day);
std::string InstancesJson(const Board& board);

}  // namespace tenure::overview
