#include "queues/attention.hpp"

#include <fmt/format.h>

#include "explain/explanation.hpp"
#include "explain/naming.hpp"

namespace tenure::queues {
namespace {

using explain::Concern;
using explain::Counted;
using explain::Glance;
using explain::Shown;

Concern Of(const QueueFigures& queue, Concern concern) {
  concern.tenant = queue.tenant;
  concern.link = "/queues/" + explain::Segment(queue.name);
  concern.command = "tenure why queue " + explain::Word(queue.name);
  return concern;
}

void AddConcernsOf(const QueueFigures& queue, explain::Naming& naming, Glance& glance) {
  const std::string name = Shown(queue.name);
  const auto add = [&](Concern concern) {
    if (naming.Takes(queue.tenant)) glance.concerns.push_back(Of(queue, std::move(concern)));
  };
  if (queue.parked > 0)
    add({.name = "QueueSessionsParked",
         .sentence = fmt::format("{} parked in {}: a message of each cannot be processed.",
                                 Counted(queue.parked, "One session is", "sessions are"), name),
         .others = "queues with parked sessions"});
  if (queue.max_bytes > 0 && queue.bytes >= queue.max_bytes)
    add({.name = "QueueFull",
         .severity = explain::Severity::kCritical,
         .sentence = fmt::format("{} is full: senders are refused until something is done.", name),
         .others = "queues that are full"});
  else if (queue.depth_threshold > 0 && queue.messages > queue.depth_threshold)
    add({.name = "QueueDepthOverThreshold",
         .sentence = fmt::format("{} has {} messages that are not done, more than its threshold of "
                                 "{}.",
                                 name, queue.messages, queue.depth_threshold),
         .others = "queues with more messages than their threshold"});
  if (queue.older_parked > 0)
    add({.name = "QueueGenerationBlocked",
         .sentence =
             fmt::format("The newer generation of {} waits for {} of the older one.", name,
                         Counted(queue.older_parked, "one parked session", "parked sessions")),
         .others = "queues whose newer generation waits"});
}

}  // namespace

Glance GlanceOf(const FiguresReply& figures) {
  Glance glance;
  explain::Naming naming;
  std::int64_t messages = 0, ready = 0, held = 0, parked = 0;
  for (const QueueFigures& queue : figures.queues) {
    messages += queue.messages;
    ready += queue.ready;
    held += queue.held;
    parked += queue.parked;
    AddConcernsOf(queue, naming, glance);
  }
  glance.figures = {explain::UpToMost("messages", messages), explain::UpToMost("ready", ready),
                    explain::UpToMost("held", held), explain::UpToMost("parked", parked)};
  return glance;
}

}  // namespace tenure::queues
