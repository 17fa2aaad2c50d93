#include "messages/attention.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "explain/explanation.hpp"
#include "explain/naming.hpp"

namespace tenure::messages {
namespace {

using base::UtcText;
using explain::Concern;
using explain::Shown;

constexpr std::int64_t kOldMs = 300'000;

std::string LinkOf(const std::string& topic) { return "/topics/" + explain::Segment(topic); }

Concern DeadConcern(const CountsReply::DeadTopic& topic) {
  return {.name = "TenureMessagesDead",
          .tenant = topic.tenant,
          .sentence = fmt::format("{} of {} dead, the first since {}, the last since {}.",
                                  explain::Counted(topic.dead, "One message", "messages"),
                                  Shown(topic.name) + (topic.dead == 1 ? " is" : " are"),
                                  UtcText(topic.first_ms), UtcText(topic.last_ms)),
          .since_ms = topic.first_ms,
          .link = "/dead-letters?topic=" + explain::Segment(topic.name),
          .command = "tenure message dead --topic " + explain::Word(topic.name),
          .others = "topics with dead letters"};
}

Concern PausedConcern(const CountsReply::PausedTopic& topic) {
  return {.name = "TenureTopicPaused",
          .tenant = topic.tenant,
          .sentence = fmt::format(
              "{} is paused since {}: {}.", Shown(topic.name), UtcText(topic.since_ms),
              topic.reason.empty() ? "no reason was given" : explain::Quoted(topic.reason)),
          .since_ms = topic.since_ms,
          .link = LinkOf(topic.name),
          .command = "tenure topic resume " + explain::Word(topic.name),
          .others = "paused topics"};
}

/// Of a topic that is not paused: nobody asks for it, or its messages wait for long.
Concern WaitConcern(const CountsReply::Topic& topic, std::int64_t now_ms) {
  return {.name = topic.unhandled ? "TenureMessagesUnhandled" : "TenureMessagesOld",
          .tenant = topic.tenant,
          .sentence = fmt::format("{} of {} ready{}, the oldest for {}.",
                                  explain::Counted(topic.ready, "One message", "messages"),
                                  Shown(topic.name) + (topic.ready == 1 ? " is" : " are"),
                                  topic.unhandled ? ", and no worker asks for it" : "",
                                  base::SpanText(topic.oldest_age_ms)),
          .since_ms = now_ms - topic.oldest_age_ms,
          .link = LinkOf(topic.name),
          .command = "tenure why topic " + explain::Word(topic.name),
          .others = topic.unhandled ? "topics that no worker asks for"
                                    : "topics whose messages wait for more than 5 minutes"};
}

}  // namespace

explain::Glance GlanceOf(const CountsReply& counts) {
  explain::Glance glance;
  std::int64_t ready = 0, unhandled = 0, oldest_ms = 0;
  for (const CountsReply::Topic& topic : counts.topics) {
    ready += topic.ready;
    unhandled += topic.unhandled ? topic.ready : 0;
    oldest_ms = std::max(oldest_ms, topic.oldest_age_ms);
  }
  glance.figures = {explain::UpToMost("ready", ready),
                    explain::UpToMost("delayed", counts.waiting),
                    explain::UpToMost("dead", counts.dead),
                    explain::UpToMost("unhandled", unhandled),
                    {"oldest_seconds", oldest_ms / 1'000}};
  for (const CountsReply::DeadTopic& topic : counts.dead_topics)
    glance.concerns.push_back(DeadConcern(topic));
  for (const CountsReply::PausedTopic& topic : counts.paused)
    glance.concerns.push_back(PausedConcern(topic));
  explain::Naming naming;
  for (const CountsReply::Topic& topic : counts.topics) {
    const bool paused = std::ranges::any_of(counts.paused, [&](const auto& each) {
      return each.tenant == topic.tenant && each.name == topic.name;
    });
    if (paused || topic.oldest_age_ms < kOldMs || !naming.Takes(topic.tenant)) continue;
    glance.concerns.push_back(WaitConcern(topic, counts.now_ms));
  }
  return glance;
}

}  // namespace tenure::messages
