#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.hpp"

namespace tenure::telemetry {

/// Only rises. Any thread; one relaxed atomic addition.
class Counter {
 public:
  void Add(std::uint64_t n = 1) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  alignas(64) std::atomic<std::uint64_t> value_{0};
};

/// Goes both ways. Any thread.
class Gauge {
 public:
  void Set(std::int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void Add(std::int64_t n) { value_.fetch_add(n, std::memory_order_relaxed); }
  std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

/// Counts in fixed buckets. Observations and bounds are whole numbers of the smallest unit
/// (microseconds, items); `scale` is what the printed numbers are divided by, so that seconds come
/// out as seconds. Any thread; two relaxed atomic additions, no mutex.
class Histogram {
 public:
  Histogram(std::span<const std::int64_t> bounds, std::int64_t scale);

  /// Of a duration that may come from a store, which may have any number: bounded to ten years.
  /// REQUIRES: it is observed in microseconds.
  void ObserveMs(std::int64_t ms) {
    constexpr std::int64_t kMostMs = 3'650LL * 86'400'000;
    Observe(std::clamp<std::int64_t>(ms, 0, kMostMs) * 1'000);
  }
  void Observe(std::int64_t value) {
    std::size_t i = 0;
    while (i < bounds_.size() && value > bounds_[i]) ++i;
    counts_[i].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }

  /// Adds how many there were in each bucket; the last has what is above all bounds.
  void AddCountsTo(std::vector<std::uint64_t>& counts) const {
    counts.resize(std::max(counts.size(), counts_.size()));
    for (std::size_t i = 0; i < counts_.size(); ++i)
      counts[i] += counts_[i].load(std::memory_order_relaxed);
  }

 private:
  friend class Registry;
  std::vector<std::int64_t> bounds_;
  std::int64_t scale_;
  std::deque<std::atomic<std::uint64_t>> counts_;
  std::atomic<std::int64_t> sum_{0};
};

/// From 50 us to 10 s, observed in microseconds and printed in seconds.
std::span<const std::int64_t> LatencyBounds();
inline constexpr std::int64_t kMicrosPerSecond = 1'000'000;

/// From 1 to 4,096 items.
std::span<const std::int64_t> SizeBounds();

using Labels = std::vector<std::pair<std::string, std::string>>;

/// Who reads the metrics.
enum class Audience {
  kAnybody,    ///< whoever has the scope `ops:read`, of whichever tenant: nothing of tenants
  kOperators,  ///< whoever reaches the operators' listener: also what names tenants' things
};

/// All metrics of a process and their Prometheus text. Parts ask for their metrics once, when they
/// are built, and keep the reference (it lives as long as the registry); asking again for the same
/// name and labels gives the same object. Each part keeps its metrics in a `Probe` with verbs, so
/// domain code has no metric names.
///
/// Series are bounded: of a metric with more than kMaxSeries sets of labels the further ones are
/// summed under the value `other`, whoever chose them.
class Registry {
 public:
  Counter& GetCounter(const std::string& name, const std::string& help, const Labels& labels = {});
  Gauge& GetGauge(const std::string& name, const std::string& help, const Labels& labels = {});
  Histogram& GetHistogram(const std::string& name, const std::string& help,
                          std::span<const std::int64_t> bounds, std::int64_t scale,
                          const Labels& labels = {});

  static constexpr std::size_t kMaxSeries = 1'000;

  /// Gauges that name tenants' things, for operators only: what was there before goes. `values` has
  /// at most kMaxSeries; more are left out.
  void ReplaceGauges(const std::string& name, const std::string& help,
                     std::span<const std::pair<Labels, std::int64_t>> values);

  /// Called before each scrape: the place to set gauges that are read off something.
  void OnScrape(std::function<void()> refresh);

  /// Prometheus text format 0.0.4.
  std::string Text(Audience audience = Audience::kAnybody) const;

 private:
  template <class Metric>
  struct Family {
    std::string help;
    std::map<std::string, Metric*> by_labels;  // printed labels -> metric
  };
  struct ReplacedGauges {
    std::string help;
    std::map<std::string, std::int64_t> by_labels;
  };
  template <class Metric, class... Args>
  Metric& Get(std::map<std::string, Family<Metric>>& families, std::deque<Metric>& all,
              const std::string& name, const std::string& help, const Labels& labels,
              Args&&... args) TENURE_REQUIRES(mutex_);

  mutable base::Mutex mutex_;  // never taken when a metric is counted
  std::deque<Counter> counters_ TENURE_GUARDED_BY(mutex_);
  std::deque<Gauge> gauges_ TENURE_GUARDED_BY(mutex_);
  std::deque<Histogram> histograms_ TENURE_GUARDED_BY(mutex_);
  std::map<std::string, Family<Counter>> counter_families_ TENURE_GUARDED_BY(mutex_);
  std::map<std::string, Family<Gauge>> gauge_families_ TENURE_GUARDED_BY(mutex_);
  std::map<std::string, Family<Histogram>> histogram_families_ TENURE_GUARDED_BY(mutex_);
  std::map<std::string, ReplacedGauges> replaced_gauges_ TENURE_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> refreshers_ TENURE_GUARDED_BY(mutex_);
};

}  // namespace tenure::telemetry
