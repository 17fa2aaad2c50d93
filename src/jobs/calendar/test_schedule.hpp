#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/time_text.hpp"
#include "jobs/calendar/schedule.hpp"

// What the calendar's tests say often.

namespace tenure::jobs::calendar {

inline const Zones& SystemZones() {
  static const Zones zones;
  return zones;
}

inline Cron ReadCron(std::string_view text) {
  auto read = Cron::Parse(text);
  if (const auto* problem = std::get_if<Problem>(&read))
    throw std::runtime_error(std::string(text) + ": " + problem->message);
  return std::get<Cron>(read);
}

inline std::int64_t Ms(std::string_view text) { return base::ParseRfc3339Ms(text).value(); }

inline Schedule Daily(std::string_view cron, std::string_view zone = "UTC",
                      Gap gap = Gap::kEndOfGap, Repeat repeat = Repeat::kFirst) {
  return {ReadCron(cron), SystemZones().Find(zone).value(), gap, repeat};
}

/// "2026-03-29T03:00:00+02:00 gap", one for each occurrence.
inline std::vector<std::string> Texts(const Schedule& schedule,
                                      const std::vector<Occurrence>& occurrences) {
  std::vector<std::string> texts;
  for (const Occurrence& at : occurrences) {
    std::string text = schedule.zone().LocalTime(at.time_ms) + schedule.zone().Offset(at.time_ms);
    if (at.flag != Flag::kNone) text.append(" ").append(FlagText(at.flag));
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace tenure::jobs::calendar
