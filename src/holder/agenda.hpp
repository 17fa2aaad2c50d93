#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>

#include "tenure/clock.hpp"

namespace tenure::holder {

/// Who is to be looked after when: a time per thing, found by the time. Not thread-safe.
template <class T>
class Agenda {
 public:
  /// kNever takes it off.
  void Set(T* thing, std::int64_t at_ms) {
    Remove(thing);
    if (at_ms == kNever) return;
    by_time_.emplace(at_ms, thing);
    times_.emplace(thing, at_ms);
  }
  void Remove(T* thing) {
    const auto found = times_.find(thing);
    if (found == times_.end()) return;
    by_time_.erase({found->second, thing});
    times_.erase(found);
  }
  std::int64_t NextMs() const { return by_time_.empty() ? kNever : by_time_.begin()->first; }
  /// (time, thing), the soonest first.
  const std::set<std::pair<std::int64_t, T*>>& entries() const { return by_time_; }

 private:
  std::set<std::pair<std::int64_t, T*>> by_time_;
  std::unordered_map<T*, std::int64_t> times_;
};

}  // namespace tenure::holder
