#include "telemetry/metrics.hpp"

#include <array>

#include <fmt/format.h>

namespace tenure::telemetry {
namespace {

constexpr std::array<std::int64_t, 16> kLatencyMicros{
    50,     100,    250,     500,     1'000,   2'500,     5'000,     10'000,
    25'000, 50'000, 100'000, 250'000, 500'000, 1'000'000, 2'500'000, 10'000'000};
constexpr std::array<std::int64_t, 13> kSizes{1,   2,   4,   8,     16,    32,   64,
                                              128, 256, 512, 1'024, 2'048, 4'096};

std::string EscapeLabel(std::string_view value) {
  std::string out;
  for (const char c : value) {
    if (c == '\\' || c == '"') out.push_back('\\');
    if (c == '\n')
      out += "\\n";
    else
      out.push_back(c);
  }
  return out;
}

std::string LabelText(const Labels& labels) {
  std::string out;
  for (const auto& [name, value] : labels) {
    if (!out.empty()) out.push_back(',');
    out += fmt::format("{}=\"{}\"", name, EscapeLabel(value));
  }
  return out;
}

std::string Braced(std::string_view labels, std::string_view extra = {}) {
  if (labels.empty() && extra.empty()) return {};
  const std::string_view comma = !labels.empty() && !extra.empty() ? "," : "";
  return fmt::format("{{{}{}{}}}", labels, comma, extra);
}

std::string Scaled(std::int64_t value, std::int64_t scale) {
  if (scale == 1) return fmt::format("{}", value);
  return fmt::format("{}", static_cast<double>(value) / static_cast<double>(scale));
}

void AppendHead(std::string& out, std::string_view name, std::string_view help,
                std::string_view type) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

}  // namespace

std::span<const std::int64_t> LatencyBounds() { return kLatencyMicros; }
std::span<const std::int64_t> SizeBounds() { return kSizes; }

Histogram::Histogram(std::span<const std::int64_t> bounds, std::int64_t scale)
    : bounds_(bounds.begin(), bounds.end()), scale_(scale), counts_(bounds.size() + 1) {}

template <class Metric, class... Args>
Metric& Registry::Get(std::map<std::string, Family<Metric>>& families, std::deque<Metric>& all,
                      const std::string& name, const std::string& help, const Labels& labels,
                      Args&&... args) {
  const std::lock_guard lock(mutex_);
  Family<Metric>& family = families[name];
  family.help = help;
  Metric*& metric = family.by_labels[LabelText(labels)];
  if (!metric) metric = &all.emplace_back(std::forward<Args>(args)...);
  return *metric;
}

Counter& Registry::GetCounter(const std::string& name, const std::string& help,
                              const Labels& labels) {
  return Get(counter_families_, counters_, name, help, labels);
}

Gauge& Registry::GetGauge(const std::string& name, const std::string& help, const Labels& labels) {
  return Get(gauge_families_, gauges_, name, help, labels);
}

Histogram& Registry::GetHistogram(const std::string& name, const std::string& help,
                                  std::span<const std::int64_t> bounds, std::int64_t scale,
                                  const Labels& labels) {
  return Get(histogram_families_, histograms_, name, help, labels, bounds, scale);
}

void Registry::OnScrape(std::function<void()> refresh) {
  const std::lock_guard lock(mutex_);
  refreshers_.push_back(std::move(refresh));
}

std::string Registry::Text() const {
  std::vector<std::function<void()>> refreshers;
  {
    const std::lock_guard lock(mutex_);
    refreshers = refreshers_;
  }
  for (const auto& refresh : refreshers) refresh();

  const std::lock_guard lock(mutex_);
  std::string out;
  for (const auto& [name, family] : counter_families_) {
    AppendHead(out, name, family.help, "counter");
    for (const auto& [labels, counter] : family.by_labels)
      out += fmt::format("{}{} {}\n", name, Braced(labels), counter->value());
  }
  for (const auto& [name, family] : gauge_families_) {
    AppendHead(out, name, family.help, "gauge");
    for (const auto& [labels, gauge] : family.by_labels)
      out += fmt::format("{}{} {}\n", name, Braced(labels), gauge->value());
  }
  for (const auto& [name, family] : histogram_families_) {
    AppendHead(out, name, family.help, "histogram");
    for (const auto& [labels, histogram] : family.by_labels) {
      std::uint64_t total = 0;
      for (std::size_t i = 0; i < histogram->counts_.size(); ++i) {
        total += histogram->counts_[i].load(std::memory_order_relaxed);
        const std::string bound = i < histogram->bounds_.size()
                                      ? Scaled(histogram->bounds_[i], histogram->scale_)
                                      : "+Inf";
        out += fmt::format("{}_bucket{} {}\n", name,
                           Braced(labels, fmt::format("le=\"{}\"", bound)), total);
      }
      out +=
          fmt::format("{}_sum{} {}\n", name, Braced(labels),
                      Scaled(histogram->sum_.load(std::memory_order_relaxed), histogram->scale_));
      out += fmt::format("{}_count{} {}\n", name, Braced(labels), total);
    }
  }
  return out;
}

}  // namespace tenure::telemetry
