// Cron expressions and names of zones: the first line is an expression, the second a name.
//
// What must hold: a mistake has a place inside of the text, and words. What is read has times that
// rise, that are the same when they are asked for one by one, and that the wall clock of the zone
// allows. A name that is not listed is no zone.

#include "base/utf8.hpp"
#include "jobs/calendar/schedule.hpp"
#include "target.hpp"

namespace tenure::fuzz {
namespace {

using jobs::calendar::Cron;
using jobs::calendar::Gap;
using jobs::calendar::Occurrence;
using jobs::calendar::Problem;
using jobs::calendar::Repeat;
using jobs::calendar::Schedule;
using jobs::calendar::Zone;
using jobs::calendar::Zones;

const Zones& AllZones() {
  static const Zones zones;
  return zones;
}

void CheckProblem(const Problem& problem, std::string_view text) {
  TENURE_CHECK(problem.position <= text.size(), "a mistake lies outside of the expression");
  TENURE_CHECK(!problem.message.empty() && base::IsStorableText(problem.message),
               "a mistake has no words");
}

Zone ZoneOf(std::string_view name) {
  if (const auto zone = AllZones().Find(name)) return *zone;
  for (const std::string& nearest : AllZones().Nearest(name))
    TENURE_CHECK(AllZones().Find(nearest).has_value(), "a nearest zone is none");
  return Zone::Utc();
}

void CheckTimes(const Schedule& schedule) {
  constexpr std::int64_t kFromMs = 1'774'000'000'000;  // some days before a change of the clock
  const std::vector<Occurrence> times = schedule.List(kFromMs, kFromMs + (1LL << 40), 40);
  std::int64_t from_ms = kFromMs;
  for (const Occurrence& at : times) {
    TENURE_CHECK(at.time_ms >= from_ms, "times do not rise");
    TENURE_CHECK(schedule.First(from_ms) == at, "a time is passed over");
    TENURE_CHECK(schedule.zone().LocalTime(at.time_ms).size() >= 19, "a time cannot be printed");
    from_ms = at.time_ms + 1;
  }
  TENURE_CHECK(schedule.Count(kFromMs, from_ms) == std::ssize(times), "times are counted wrong");
}

}  // namespace
}  // namespace tenure::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenure::jobs::calendar;
  const std::string_view text = tenure::fuzz::AsText(data, size);
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::string_view name =
      line.size() < text.size() ? text.substr(line.size() + 1) : std::string_view();
  const Zone zone = tenure::fuzz::ZoneOf(name);
  if (const auto every = ParseAtEvery(line)) {
    if (const auto* problem = std::get_if<Problem>(&*every))
      tenure::fuzz::CheckProblem(*problem, line);
    else
      tenure::fuzz::CheckTimes(Schedule(Every{std::get<std::int64_t>(*every), 0}, zone));
    return 0;
  }
  const auto read = Cron::Parse(line);
  if (const auto* problem = std::get_if<Problem>(&read)) {
    tenure::fuzz::CheckProblem(*problem, line);
    return 0;
  }
  for (const auto gap : {Gap::kEndOfGap, Gap::kSkip})
    for (const auto repeat : {Repeat::kFirst, Repeat::kSecond, Repeat::kBoth})
      tenure::fuzz::CheckTimes(Schedule(std::get<Cron>(read), zone, gap, repeat));
  return 0;
}
