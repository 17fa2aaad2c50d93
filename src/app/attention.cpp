#include "app/attention.hpp"

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace tenure::app {
namespace {

using explain::Concern;
using explain::Severity;

constexpr std::int64_t kSecondMs = 1'000;
constexpr std::int64_t kDayMs = 86'400'000;

void AddStore(std::vector<Concern>& found, const OpsParts& parts, const StoreWatch::View& seen) {
  if (!parts.store.IsUp() || !seen.is_writable)
    found.push_back({.name = "TenureNotReady",
                     .severity = Severity::kCritical,
                     .sentence = "The store cannot be reached, or does not commit.",
                     .link = "/system",
                     .command = "tenure status"});
  if (!parts.store.engine().SurvivesFailover())
    found.push_back({.name = "TenureNoSynchronousStandby",
                     .sentence =
                         "PostgreSQL has no synchronous standby: a failover may forget what "
                         "was answered.",
                     .link = "/system"});
  if (seen.frozen_until_ms > 0)
    found.push_back(
        {.name = "TenureGrantsFrozen",
         .sentence = fmt::format("The store was restored or promoted: some names are not "
                                 "granted before {}.",
                                 base::UtcText(seen.frozen_until_ms)),
         .link = "/leases",
         .command = "tenure admin thaw"});
  if (seen.step)
    found.push_back({.name = "TenureStoreClockStepped",
                     .sentence = fmt::format(
                         "The store's clock was set from {} to {}. Holds that were granted "
                         "before may last longer or shorter than their ttl.",
                         base::UtcText(seen.step->from_ms), base::UtcText(seen.step->to_ms)),
                     .since_ms = seen.step->to_ms,
                     .link = "/system"});
  if (seen.forgotten)
    found.push_back({.name = "TenureStoreMayHaveForgotten",
                     .sentence =
                         "A client named a fence that the store never gave. If the database "
                         "was restored, that was not noticed.",
                     .link = "/system",
                     .command = "tenure admin new-incarnation"});
}

}  // namespace

std::vector<Concern> ConcernsOf(const OpsParts& parts, std::int64_t certificate_end_s,
                                std::int64_t wall_ms) {
  std::vector<Concern> found;
  AddStore(found, parts, parts.watch.Seen());
  const std::int64_t left_ms = certificate_end_s * kSecondMs - wall_ms;
  if (certificate_end_s > 0 && left_ms < 7 * kDayMs)
    found.push_back(
        {.name = left_ms < kDayMs ? "TenureTlsCertificateEnds" : "TenureTlsCertificateEndsSoon",
         .severity = left_ms < kDayMs ? Severity::kCritical : Severity::kWarning,
         .sentence = fmt::format("The certificate ends at {}.",
                                 base::UtcText(certificate_end_s * kSecondMs)),
         .link = "/system"});
  return found;
}

}  // namespace tenure::app
