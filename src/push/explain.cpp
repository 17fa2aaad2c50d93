#include "push/explain.hpp"

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace tenure::push {
namespace {

using base::UtcText;
using explain::Cause;
using explain::Explanation;
using explain::Next;
using explain::Shown;

void AddDisabled(Explanation& out, const Subscription& row) {
  if (row.gone_ms == 0) {
    out.Because(
        {.code = "disabled",
         .text = fmt::format("The subscription {} is disabled by whoever put it.", row.name)});
    out.next = {"A PUT with enabled true goes on.", 0};
    return;
  }
  out.Because(
      {.code = "gone",
       .text = fmt::format("The subscription {} is disabled: its endpoint said at {} that it "
                           "is gone (410).",
                           row.name, UtcText(row.gone_ms)),
       .since_ms = row.gone_ms});
  out.next = {"A PUT with enabled true, or with another url, goes on.", 0};
}

void AddFailing(Explanation& out, const Subscription& row, std::string_view code,
                std::int64_t now_ms) {
  const std::int64_t next_ms = row.circuit.next_ms;
  const std::string when = next_ms > now_ms ? "at " + UtcText(next_ms) : "now";
  Cause cause{.code = code, .until_ms = next_ms};
  if (code == "open") {
    cause.text =
        fmt::format("The circuit of {} is open after {} failures of its endpoint in a row.",
                    row.name, row.circuit.failures);
    out.next = {fmt::format("One message is sent as a probe {}, and nothing else until one is "
                            "acknowledged.",
                            when),
                next_ms};
  } else {
    cause.text = row.circuit.failures > 0
                     ? fmt::format("The endpoint of {} failed {} times in a row.", row.name,
                                   row.circuit.failures)
                     : fmt::format("The endpoint of {} asked for a pause.", row.name);
    out.next = {fmt::format("The next message is sent {}.", when), next_ms};
  }
  out.Because(std::move(cause));
}

void AddDelivered(Explanation& out, const Subscription& row, std::int64_t now_ms) {
  if (row.holder.empty() || row.expires_ms <= now_ms) {
    out.Because(
        {.code = "nobody", .text = fmt::format("Nobody delivers {} at this moment.", row.name)});
    out.next = {"A process with push does within 10 seconds.", 0};
    return;
  }
  out.Because(
      {.code = "delivered",
       .text = fmt::format("The subscription {} is delivered by {}.", row.name, Shown(row.holder)),
       .until_ms = row.expires_ms});
  out.next = {QueueOf(row.topic).empty()
                  ? "Messages of its topic are sent as they become ready."
                  : "Messages of its queue are sent session by session, as they become ready.",
              0};
}

Cause SourceOf(const Subscription& row) {
  if (const std::string_view queue = QueueOf(row.topic); !queue.empty())
    return {
        .code = "queue",
        .text = fmt::format("`tenure why queue {}` tells of its messages.", explain::Word(queue)),
        .link = "/queues/" + explain::Segment(queue)};
  return {
      .code = "topic",
      .text = fmt::format("`tenure why topic {}` tells of its messages.", explain::Word(row.topic)),
      .link = "/topics/" + explain::Segment(row.topic)};
}

Cause LastRequestOf(const Subscription& row) {
  if (row.last_ms == 0) return {.code = "nothing-sent", .text = "Nothing was sent yet."};
  return {.code = "last-request",
          .text = fmt::format("The last request ended at {}: {}. {} delivered, {} failed.",
                              UtcText(row.last_ms),
                              row.last_error.empty() ? "acknowledged" : Shown(row.last_error),
                              row.delivered, row.failed),
          .since_ms = row.last_ms};
}

}  // namespace

Explanation Explain(const Subscription& row, std::int64_t now_ms) {
  const std::string_view state = StateText(row, now_ms);
  Explanation out{
      .kind = "subscription", .id = row.name, .state = std::string(state), .docs = "docs/push.md"};
  if (state == "disabled")
    AddDisabled(out, row);
  else if (state == "ok")
    AddDelivered(out, row, now_ms);
  else
    AddFailing(out, row, state, now_ms);
  out.Because(LastRequestOf(row));
  out.Because(SourceOf(row));
  out.actions = {{.act = "subscription.test",
                  .title = fmt::format("Send a ping to {}", row.name),
                  .scope = "subscriptions:write",
                  .method = "POST",
                  .path = fmt::format("/api/v1/subscriptions/{}/test", row.name),
                  .command = fmt::format("tenure subscription test {}", row.name)}};
  return out;
}

}  // namespace tenure::push
