#include "jobs/times.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenure::jobs {

std::string PlacedText(const Mistake& mistake) {
  if (!mistake.position) return mistake.message;
  return fmt::format("{} (at character {})", mistake.message, *mistake.position);
}

std::optional<Times> Times::Of(const Definition& definition, std::int64_t created_ms,
                               const calendar::Zones& zones) {
  const auto zone = zones.Find(definition.zone);
  if (!zone) return std::nullopt;
  std::int64_t begin_ms =
      definition.starts_ms > 0 ? definition.starts_ms : std::numeric_limits<std::int64_t>::min();
  const std::int64_t end_ms =
      definition.ends_ms > 0 ? definition.ends_ms : std::numeric_limits<std::int64_t>::max();
  if (definition.every_ms > 0) {
    // It counts from `starts_at`, which is the first time, or from the creation, which is none.
    const bool starts = definition.starts_ms > 0;
    const std::int64_t anchor_ms = starts ? definition.starts_ms : created_ms;
    begin_ms = starts ? anchor_ms : anchor_ms + 1;
    return Times(calendar::Schedule(calendar::Every{definition.every_ms, anchor_ms}, *zone),
                 begin_ms, end_ms);
  }
  const auto cron = calendar::Cron::Parse(definition.cron);
  if (!std::holds_alternative<calendar::Cron>(cron)) return std::nullopt;
  const auto gap =
      definition.gap == GapPolicy::kSkip ? calendar::Gap::kSkip : calendar::Gap::kEndOfGap;
  const auto repeat = definition.repeat == RepeatPolicy::kFirst    ? calendar::Repeat::kFirst
                      : definition.repeat == RepeatPolicy::kSecond ? calendar::Repeat::kSecond
                                                                   : calendar::Repeat::kBoth;
  return Times(calendar::Schedule(std::get<calendar::Cron>(cron), *zone, gap, repeat), begin_ms,
               end_ms);
}

std::vector<Mistake> Times::Check(const Definition& definition, const calendar::Zones& zones) {
  std::vector<Mistake> mistakes;
  if (definition.every_ms == 0) {
    const auto cron = calendar::Cron::Parse(definition.cron);
    if (const auto* problem = std::get_if<calendar::Problem>(&cron))
      mistakes.push_back({"cron", problem->message, problem->position});
  }
  if (!zones.Find(definition.zone))
    mistakes.push_back({"time_zone",
                        fmt::format("is no time zone; nearest: {}",
                                    fmt::join(zones.Nearest(definition.zone), ", ")),
                        {}});
  if (definition.ends_ms > 0 && definition.ends_ms <= definition.starts_ms)
    mistakes.push_back({"ends_at", "must be after starts_at", {}});
  return mistakes;
}

std::optional<calendar::Occurrence> Times::First(std::int64_t from_ms) const {
  const auto first = schedule_.First(std::max(from_ms, begin_ms_));
  return first && first->time_ms < end_ms_ ? first : std::nullopt;
}

std::vector<calendar::Occurrence> Times::List(std::int64_t from_ms, std::int64_t to_ms,
                                              std::size_t most) const {
  return schedule_.List(std::max(from_ms, begin_ms_), std::min(to_ms, end_ms_), most);
}

std::vector<calendar::Occurrence> Times::Last(std::int64_t from_ms, std::int64_t to_ms,
                                              std::size_t most) const {
  return schedule_.Last(std::max(from_ms, begin_ms_), std::min(to_ms, end_ms_), most);
}

std::int64_t Times::Count(std::int64_t from_ms, std::int64_t to_ms) const {
  return schedule_.Count(std::max(from_ms, begin_ms_), std::min(to_ms, end_ms_));
}

bool ZoneSource::Renew() {
  const auto before = Get();
  if (before->VersionNow() == before->version()) return false;
  auto renewed = std::make_shared<const calendar::Zones>(folder_);
  const base::Lock lock(mutex_);
  zones_ = std::move(renewed);
  return true;
}

}  // namespace tenure::jobs
