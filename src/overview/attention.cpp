#include "overview/attention.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "explain/explanation.hpp"

namespace tenure::overview {
namespace {

using explain::Concern;
using explain::Severity;

bool IsMissed(const Instance& instance, std::int64_t now_ms) {
  return instance.left_ms == 0 && now_ms - instance.seen_ms > kMissedMs;
}

Concern MissedConcern(const Instance& instance) {
  return {
      .name = "TenureInstanceLost",
      .severity = Severity::kCritical,
      .sentence = fmt::format("The process {} was last seen at {} and did not say good-bye.",
                              explain::Shown(instance.instance), base::UtcText(instance.seen_ms)),
      .since_ms = instance.seen_ms,
      .link = "/system"};
}

Concern VersionsConcern(const std::set<std::string>& versions) {
  std::string list;
  for (const std::string& each : versions)
    list += (list.empty() ? "" : ", ") + explain::Shown(each);
  return {.name = "TenureVersionsDiffer",
          .sentence = fmt::format("The processes have different versions: {}. That is so during an "
                                  "update; if the page looks odd, reload it.",
                                  list),
          .link = "/system"};
}

}  // namespace

std::vector<Concern> ConcernsOf(std::span<const Instance> instances, std::int64_t now_ms) {
  std::vector<Concern> concerns;
  std::set<std::string> versions;
  for (const Instance& each : instances) {
    if (IsMissed(each, now_ms))
      concerns.push_back(MissedConcern(each));
    else if (each.left_ms == 0)
      versions.insert(each.version);
  }
  if (versions.size() > 1) concerns.push_back(VersionsConcern(versions));
  return concerns;
}

std::vector<Concern> TellTo(const http::Principal& asker, std::span<const Concern> concerns) {
  std::vector<Concern> told;
  struct Others {
    Concern first{};
    std::int64_t count = 0;
  };
  std::map<std::string_view, Others> others;
  for (const Concern& each : concerns) {
    if (each.tenant.empty() || !asker.tenant || each.tenant == *asker.tenant) {
      told.push_back(each);
      continue;
    }
    Others& of = others[each.name];
    if (of.count++ == 0) of.first = each;
  }
  for (const auto& [name, of] : others)
    told.push_back(
        {.name = name,
         .severity = of.first.severity,
         .sentence = fmt::format("Of other tenants: {} ({}).", of.first.others, of.count)});
  std::ranges::stable_sort(told, {}, [](const Concern& each) {
    return std::tuple(each.severity, each.since_ms == 0, each.since_ms);
  });
  return told;
}

}  // namespace tenure::overview
