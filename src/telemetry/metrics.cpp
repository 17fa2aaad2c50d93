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

/// Where those go that are too many.
Labels OtherOf(Labels labels) {
  for (auto& [name, value] : labels) value = "other";
  return labels;
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

/// What a histogram has counted, at one moment.
struct Counted {
  std::span<const std::int64_t> bounds;
  std::span<const std::uint64_t> counts;  // by bucket; one more than the bounds
  std::int64_t sum = 0;
  std::int64_t scale = 1;
};
/// Its series; nothing while it is empty.
std::string HistogramText(std::string_view name, std::string_view labels, const Counted& counted) {
  std::string out;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counted.counts.size(); ++i) {
    total += counted.counts[i];
    const std::string bound =
        i < counted.bounds.size() ? Scaled(counted.bounds[i], counted.scale) : "+Inf";
    out += fmt::format("{}_bucket{} {}\n", name, Braced(labels, fmt::format("le=\"{}\"", bound)),
                       total);
  }
  if (total == 0) return {};
  out += fmt::format("{}_sum{} {}\n{}_count{} {}\n", name, Braced(labels),
                     Scaled(counted.sum, counted.scale), name, Braced(labels), total);
  return out;
}

/// A family: its head and its series, or nothing when it has none yet.
void AppendFamily(std::string& out, std::string_view name, std::string_view help,
                  std::string_view type, std::string_view series) {
  if (series.empty()) return;
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n{}", name, help, name, type, series);
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
  Family<Metric>& family = families[name];
  family.help = help;
  std::string text = LabelText(labels);
  if (family.by_labels.size() >= kMaxSeries && !family.by_labels.contains(text))
    text = LabelText(OtherOf(labels));
  Metric*& metric = family.by_labels[text];
  if (!metric) metric = &all.emplace_back(std::forward<Args>(args)...);
  return *metric;
}

Counter& Registry::GetCounter(const std::string& name, const std::string& help,
                              const Labels& labels) {
  const base::Lock lock(mutex_);
  return Get(counter_families_, counters_, name, help, labels);
}

Gauge& Registry::GetGauge(const std::string& name, const std::string& help, const Labels& labels) {
  const base::Lock lock(mutex_);
  return Get(gauge_families_, gauges_, name, help, labels);
}

Histogram& Registry::GetHistogram(const std::string& name, const std::string& help,
                                  std::span<const std::int64_t> bounds, std::int64_t scale,
                                  const Labels& labels) {
  const base::Lock lock(mutex_);
  return Get(histogram_families_, histograms_, name, help, labels, bounds, scale);
}

void Registry::ReplaceGauges(const std::string& name, const std::string& help,
                             std::span<const std::pair<Labels, std::int64_t>> values) {
  ReplacedGauges replaced{help, {}};
  for (const auto& [labels, value] : values.first(std::min(values.size(), kMaxSeries)))
    replaced.by_labels[LabelText(labels)] = value;
  const base::Lock lock(mutex_);
  replaced_gauges_[name] = std::move(replaced);
}

void Registry::OnScrape(std::function<void()> refresh) {
  const base::Lock lock(mutex_);
  refreshers_.push_back(std::move(refresh));
}

// A series begins with its first event: histograms that are empty, and counters with labels that are
// 0, are left out.
void Registry::ForOperatorsOnly(const std::string& name) {
  const base::Lock lock(mutex_);
  operators_only_.insert(name);
}

std::string Registry::Text(Audience audience) const {
  std::vector<std::function<void()>> refreshers;
  {
    const base::Lock lock(mutex_);
    refreshers = refreshers_;
  }
  for (const auto& refresh : refreshers) refresh();

  const base::Lock lock(mutex_);
  std::string out;
  std::string series;
  const auto is_hidden = [&, only = &operators_only_](const std::string& name) {
    return audience != Audience::kOperators && only->contains(name);
  };
  for (const auto& [name, family] : counter_families_) {
    if (is_hidden(name)) continue;
    series.clear();
    for (const auto& [labels, counter] : family.by_labels)
      if (const std::uint64_t value = counter->value(); value > 0 || labels.empty())
        series += fmt::format("{}{} {}\n", name, Braced(labels), value);
    AppendFamily(out, name, family.help, "counter", series);
  }
  for (const auto& [name, family] : gauge_families_) {
    series.clear();
    for (const auto& [labels, gauge] : family.by_labels)
      series += fmt::format("{}{} {}\n", name, Braced(labels), gauge->value());
    AppendFamily(out, name, family.help, "gauge", series);
  }
  for (const auto& [name, family] : replaced_gauges_) {
    if (audience != Audience::kOperators) continue;
    series.clear();
    for (const auto& [labels, value] : family.by_labels)
      series += fmt::format("{}{} {}\n", name, Braced(labels), value);
    AppendFamily(out, name, family.help, "gauge", series);
  }
  for (const auto& [name, family] : histogram_families_) {
    if (is_hidden(name)) continue;
    series.clear();
    for (const auto& [labels, histogram] : family.by_labels) {
      std::vector<std::uint64_t> counts;
      for (const auto& count : histogram->counts_)
        counts.push_back(count.load(std::memory_order_relaxed));
      const std::int64_t sum = histogram->sum_.load(std::memory_order_relaxed);
      series += HistogramText(name, labels, {histogram->bounds_, counts, sum, histogram->scale_});
    }
    AppendFamily(out, name, family.help, "histogram", series);
  }
  return out;
}

}  // namespace tenure::telemetry
