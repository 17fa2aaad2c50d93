#include "overview/series.hpp"

#include <algorithm>

namespace tenure::overview {

template <class RingOf>
void Series::Clear(std::int64_t last, std::int64_t step, std::int64_t size, RingOf ring_of) {
  const std::int64_t first = std::max(last + 1, step - size + 1);
  for (auto& [name, line] : lines_)
    for (std::int64_t each = first; each <= step; ++each) ring_of(line).At(each) = kGap;
}

void Series::Note(std::int64_t now_ms, const Values& values) {
  // A clock that was set back: what is newer than now is forgotten.
  if (now_ms < last_ms_) lines_.clear();
  if (lines_.empty()) since_ms_ = last_ms_ = now_ms;
  Clear(
      last_ms_ / kStepMs, now_ms / kStepMs, 360, [](Line & line) -> auto& { return line.hour; });
  Clear(
      last_ms_ / kLongStepMs, now_ms / kLongStepMs, 1'440,
      [](Line & line) -> auto& { return line.day; });
  for (const auto& [name, value] : values) {
    if (lines_.size() >= kMostNames && !lines_.contains(name)) continue;
    Line& line = lines_[name];
    line.hour.At(now_ms / kStepMs) = value;
    line.day.At(now_ms / kLongStepMs) = value;
  }
  last_ms_ = now_ms;
}

void Series::Write(base::JsonWriter& json, Range range) const {
  const bool hour = range == Range::kHour;
  const std::int64_t step_ms = hour ? kStepMs : kLongStepMs;
  const std::int64_t last = last_ms_ / step_ms;
  const std::int64_t first = std::max(since_ms_ / step_ms, last - (hour ? 360 : 1'440) + 1);
  json.BeginObject().Field("step_ms", step_ms);
  json.Key("since").TimeOrNull(since_ms_).Key("from").TimeOrNull(first * step_ms);
  json.Key("values").BeginObject();
  for (const auto& [name, line] : lines_) {
    json.Key(name).BeginArray();
    for (std::int64_t step = first; step <= last; ++step) {
      const std::int64_t value = hour ? line.hour.At(step) : line.day.At(step);
      value == kGap ? json.Null() : json.Value(value);
    }
    json.EndArray();
  }
  json.EndObject().EndObject();
}

}  // namespace tenure::overview
