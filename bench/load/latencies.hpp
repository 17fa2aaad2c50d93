#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace bench {

/// Every single latency, in microseconds: exact percentiles, at 4 bytes each.
class Latencies {
 public:
  void Add(std::int64_t us) { all_.push_back(static_cast<std::uint32_t>(us)); }

  /// `"NAME": {"p50_us": …, "p99_us": …, "max_us": …}`
  std::string Json(const std::string& name) {
    std::sort(all_.begin(), all_.end());
    return fmt::format(R"("{}": {{"p50_us": {}, "p99_us": {}, "p999_us": {}, "max_us": {}}})", name,
                       At(0.5), At(0.99), At(0.999), At(1));
  }

 private:
  std::uint32_t At(double part) const {
    if (all_.empty()) return 0;
    const auto last = static_cast<double>(all_.size() - 1);
    return all_[static_cast<std::size_t>(last * part)];
  }

  std::vector<std::uint32_t> all_;
};

}  // namespace bench
