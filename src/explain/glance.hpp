#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/mutex.hpp"

/// What the overview shows of a capability. A capability makes it when it counts for its gauges, so the
/// overview asks the store nothing.
namespace tenure::explain {

/// Counting for people stops there: more is shown as "10,000+".
inline constexpr std::int64_t kMostShown = 10'000;
/// So many things of one kind are named, the worst ones.
inline constexpr std::size_t kMostNamed = 100;

/// Of all tenants together.
struct Figure {
  std::string_view name{};  ///< "ready"
  std::int64_t value = 0;
  bool capped = false;  ///< there are more: counting stopped
};
/// Of things that are counted one by one.
inline Figure UpToMost(std::string_view name, std::int64_t value) {
  return {name, std::min(value, kMostShown), value > kMostShown};
}

enum class Severity { kCritical, kWarning };

/// Something that an operator must know.
struct Concern {
  std::string_view name{};  ///< as ops/alerts.yaml has it, where it has it
  Severity severity = Severity::kWarning;
  std::string
      tenant{};  ///< whose it is; empty: everybody's, and the sentence names nobody's things
  std::string sentence{};
  std::int64_t since_ms = 0;  ///< 0: not known
  std::string link{};         ///< of the page, "/topics/mail"
  std::string command{};
  /// What it is told as to other tenants, who learn how many there are: "topics with dead letters".
  std::string_view others{};
};

struct Glance {
  std::vector<Figure> figures{};
  std::vector<Concern> concerns{};
};

/// The last one. Any thread.
class Latest {
 public:
  void Set(Glance glance) {
    const base::Lock lock(mutex_);
    glance_ = std::move(glance);
  }
  Glance Get() const {
    const base::Lock lock(mutex_);
    return glance_;
  }

 private:
  mutable base::Mutex mutex_;
  Glance glance_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::explain
