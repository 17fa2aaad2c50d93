#include "overview/explain.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace tenure::overview {
namespace {

using base::UtcText;
using explain::Explanation;

/// As far as clocks of one ensemble may be apart before somebody should look.
constexpr std::int64_t kMuchMs = 1'000;

void AddServing(Explanation& out, const Instance& instance, const std::string& name,
                std::int64_t now_ms) {
  out.state = "ok";
  out.Because(
      {.code = "serves",
       .text = fmt::format("{} serves since {}, version {}, and was seen {} ago.", name,
                           UtcText(instance.started_ms), explain::Shown(instance.version),
                           base::SpanText(std::max<std::int64_t>(0, now_ms - instance.seen_ms))),
       .since_ms = instance.started_ms});
  out.Because({.code = "work",
               .text = instance.workers ? "It does background work for all."
                                        : "It answers requests, and leaves background work to "
                                          "others."});
  if (std::abs(instance.clock_gap_ms) > kMuchMs)
    out.Because({.code = "clock",
                 .text = fmt::format("Its clock is {} ms {} the store's: set it right.",
                                     std::abs(instance.clock_gap_ms),
                                     instance.clock_gap_ms > 0 ? "ahead of" : "behind")});
  out.next = {"It says every 10 seconds that it is there.", 0};
}

}  // namespace

Explanation Explain(const Instance& instance, std::int64_t now_ms) {
  const std::string name = "The process " + explain::Shown(instance.instance);
  Explanation out{.kind = "instance", .id = instance.instance, .docs = "docs/operating.md"};
  if (instance.left_ms > 0) {
    out.state = "left";
    out.Because({.code = "left",
                 .text = fmt::format("{} said good-bye at {}; it had served since {}.", name,
                                     UtcText(instance.left_ms), UtcText(instance.started_ms)),
                 .since_ms = instance.left_ms});
    out.next = {"It is forgotten an hour after it was last seen.", instance.seen_ms + kForgottenMs};
    return out;
  }
  if (now_ms - instance.seen_ms <= kMissedMs) {
    AddServing(out, instance, name, now_ms);
    return out;
  }
  out.state = "lost";
  out.Because({.code = "lost",
               .text = fmt::format("{} was last seen at {} and did not say good-bye; it had served "
                                   "since {} on {}.",
                                   name, UtcText(instance.seen_ms), UtcText(instance.started_ms),
                                   explain::Shown(instance.host)),
               .since_ms = instance.seen_ms});
  out.next = {
      "What it held ends at its deadlines. Look at its host: a process that begins anew has "
      "another id.",
      0};
  return out;
}

}  // namespace tenure::overview
