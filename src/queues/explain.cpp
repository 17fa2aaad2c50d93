#include "queues/explain.hpp"

#include <fmt/format.h>

#include "base/time_text.hpp"

namespace tenure::queues {
namespace {

using base::UtcText;
using explain::Action;
using explain::Cause;
using explain::Counted;
using explain::Explanation;
using explain::Shown;

/// So long nobody asks for a queue before that is what keeps its sessions.
constexpr std::int64_t kUnaskedMs = 300'000;

bool IsUnasked(std::int64_t asked_ms, std::int64_t now_ms) {
  return asked_ms + kUnaskedMs < now_ms;
}

std::string UnaskedText(const QueueRow& queue, std::int64_t asked_ms) {
  return asked_ms == 0 ? fmt::format("nobody has ever asked for sessions of {}", Shown(queue.name))
                       : fmt::format("nobody has asked for sessions of {} since {}",
                                     Shown(queue.name), UtcText(asked_ms));
}

std::string RunText(const QueueRow& queue) {
  return fmt::format("A consumer takes them: `tenure queue run {} -- COMMAND`, or one of yours.",
                     explain::Word(queue.name));
}

constexpr const char* kActScope = "queues:operate";

std::string LinkOf(const QueueRow& queue) { return "/queues/" + explain::Segment(queue.name); }

Cause PauseOf(const QueueRow& queue) {
  return {.code = "paused",
          .text = fmt::format("The queue {} is paused since {}: {}.", Shown(queue.name),
                              UtcText(queue.paused_ms), explain::Quoted(queue.paused_reason)),
          .since_ms = queue.paused_ms,
          .link = LinkOf(queue)};
}

Cause CapOf(const QueueRow& queue, std::int64_t held) {
  return {.code = "cap",
          .text = fmt::format("{} held, as many as max_concurrent_sessions of {} allows.",
                              Counted(held, "One session is", "sessions are"), Shown(queue.name)),
          .link = LinkOf(queue)};
}

/// Of a queue as a whole.
Action PauseAct(const QueueRow& queue) {
  const bool pauses = !queue.paused();
  return {.act = "queue.pause",
          .title = fmt::format("{} {}", pauses ? "Pause" : "Start", Shown(queue.name)),
          .scope = kActScope,
          .method = "PATCH",
          .path = "/api/v1/queues/" + explain::Segment(queue.name),
          .body = pauses ? R"({"paused":true})" : R"({"paused":false})",
          .command = fmt::format("tenure queue {} {} --reason …", pauses ? "pause" : "start",
                                 explain::Word(queue.name))};
}

/// `verb`: of the route and of the command alike.
Action SessionAct(const SessionView& view, std::string_view verb, std::string_view title) {
  const std::string id = view.session.id.ToString();
  return {.title = fmt::format("{} {}", title, Shown(view.session.name)),
          .scope = kActScope,
          .method = "POST",
          .path = fmt::format("/api/v1/queues/{}/sessions/{}/{}", explain::Segment(view.queue.name),
                              id, verb),
          .command = fmt::format("tenure queue {} {} {} --reason …", verb,
                                 explain::Word(view.queue.name), id)};
}

void AddSessionActs(Explanation& out, const SessionView& view) {
  const SessionRow& row = view.session;
  const auto add = [&](std::string_view act, Action action) {
    action.act = act;
    out.actions.push_back(std::move(action));
  };
  if (row.state == State::kHeld) return add("queue.break", SessionAct(view, "break", "Break"));
  if (!row.HasWork()) return;
  if (row.state == State::kParked) add("queue.resume", SessionAct(view, "resume", "Resume"));
  Action skip = SessionAct(view, "skip", fmt::format("Skip message {} of", row.head));
  skip.body = fmt::format(R"({{"sequence":{}}})", row.head);
  add("queue.skip", std::move(skip));
  Action discard = SessionAct(view, "discard", "Discard all messages of");
  discard.danger = true;
  add("queue.discard", std::move(discard));
}

std::string FollowersText(const SessionRow& row) {
  const std::int64_t followers = row.depth() - 1;
  return followers > 0 ? fmt::format(" {} behind it.", Counted(followers, "One waits", "wait"))
                       : "";
}

void ExplainParked(Explanation& out, const SessionRow& row) {
  out.Because({.code = "parked",
               .text = fmt::format(
                   "{} is parked since {}: message {} cannot be processed ({}: {}).{}",
                   Shown(row.name), UtcText(row.parked_ms), row.head, ToText(row.reason),
                   row.error.empty() ? "nobody said why" : Shown(row.error), FollowersText(row)),
               .since_ms = row.parked_ms});
  out.next = {"Resume tries that message again; skip passes it over, and the session goes on.", 0};
}

void ExplainHold(Explanation& out, const SessionView& view) {
  const SessionRow& row = view.session;
  if (row.lease_until_ms <= view.now_ms) {
    out.Because(
        {.code = "overdue",
         .text = fmt::format("{} held {} until {} and has not been heard of since.",
                             Shown(row.consumer), Shown(row.name), UtcText(row.lease_until_ms)),
         .until_ms = row.lease_until_ms});
    out.next = {"The next accept takes it over, and gets what is not completed.", 0};
    return;
  }
  out.Because({.code = "held",
               .text = fmt::format("{} holds {} since {}, at message {}, until {}.",
                                   Shown(row.consumer), Shown(row.name), UtcText(row.turn_ms),
                                   row.head, UtcText(row.lease_until_ms)),
               .since_ms = row.turn_ms,
               .until_ms = row.lease_until_ms});
  out.next = {fmt::format("Without a renewal it is free at {}, and what is not completed is handed "
                          "out again.",
                          UtcText(row.lease_until_ms)),
              row.lease_until_ms};
}

void ExplainLine(Explanation& out, const SessionView& view) {
  const SessionRow& row = view.session;
  const std::string line = view.before < 0    ? ""
                           : view.before == 0 ? ", and it is the next one"
                           : view.before < 1'000
                               ? fmt::format(", and {} before it",
                                             Counted(view.before, "one session is", "sessions are"))
                               : ", and a thousand sessions or more are before it";
  const std::string waits = row.depth() == 1
                                ? "its message waits"
                                : fmt::format("the first of its {} messages waits", row.depth());
  const bool is_unasked = IsUnasked(view.asked_ms, view.now_ms);
  out.Because(
      {.code = is_unasked ? "unasked" : "ready",
       .text = fmt::format("{} is ready{}: {} since {} for somebody to accept it{}.",
                           Shown(row.name), line, waits, UtcText(view.head_enqueued_ms),
                           is_unasked ? ", but " + UnaskedText(view.queue, view.asked_ms) : ""),
       .since_ms = view.head_enqueued_ms});
  out.next = {is_unasked ? RunText(view.queue)
                         : "An accept of the queue takes the sessions in their order.",
              0};
}

void ExplainWaiting(Explanation& out, const SessionView& view, std::string_view reason) {
  const SessionRow& row = view.session;
  const std::string name = Shown(row.name);
  if (reason == "generation") {
    out.Because({.code = "generation",
                 .text = fmt::format("{} is of a new generation of the queue {}, which waits until "
                                     "the older one is empty.",
                                     name, Shown(view.queue.name)),
                 .link = LinkOf(view.queue)});
    out.next = {"It goes on when the older generation has no messages.", 0};
  } else if (reason == "backoff") {
    out.Because({.code = "backoff",
                 .text = fmt::format("Message {} of {} failed ({}).", row.head, name,
                                     row.error.empty() ? "nobody said why" : Shown(row.error)),
                 .until_ms = row.not_before_ms});
    out.next = {fmt::format("It is tried again at {}.", UtcText(row.not_before_ms)),
                row.not_before_ms};
  } else if (reason == "reserved") {
    out.Because({.code = "reserved",
                 .text = fmt::format("{} is reserved for {} until {}.", name,
                                     Shown(row.reserved_for), UtcText(row.reserved_until_ms)),
                 .until_ms = row.reserved_until_ms});
    out.next = {"Then anybody may accept it.", row.reserved_until_ms};
  } else if (reason == "frozen") {
    const std::int64_t until_ms = view.FrozenUntilMs();
    out.Because({.code = "frozen",
                 .text = fmt::format("The store was restored or promoted: somebody whom it has "
                                     "forgotten may hold {} until {}.",
                                     name, UtcText(until_ms)),
                 .until_ms = until_ms});
    out.next = {"Then it is handed out again. `tenure admin thaw` ends that for all.", until_ms};
  } else {
    out.Because({.code = "staged",
                 .text = fmt::format("{} yet to enter {}.",
                                     Counted(view.staged, "One message of a user's transaction is",
                                             "messages of users' transactions are"),
                                     name)});
    out.next = {"The next accept of the queue puts them in.", 0};
  }
}

}  // namespace

Explanation Explain(const SessionView& view) {
  const SessionRow& row = view.session;
  const std::string_view reason = view.Reason();
  Explanation out{.kind = "queue-session",
                  .id = row.id.ToString(),
                  .state = std::string(reason),
                  .docs = "docs/queues.md"};
  if (reason == "parked") {
    ExplainParked(out, row);
  } else if (reason == "held" || reason == "overdue") {
    ExplainHold(out, view);
  } else if (reason == "idle") {
    out.Because({.code = "idle",
                 .text = fmt::format("{} has no messages that are not done.", Shown(row.name)),
                 .since_ms = row.activity_ms});
    out.next = {"The next message that is sent to it makes it ready.", 0};
  } else if (reason == "paused") {
    out.Because(PauseOf(view.queue));
    out.next = {"`tenure queue start` lets all its sessions go on.", 0};
  } else if (reason == "cap") {
    out.Because(CapOf(view.queue, view.held));
    out.next = {"The next end of one lets a session go on.", 0};
  } else if (reason == "ready") {
    ExplainLine(out, view);
  } else {
    ExplainWaiting(out, view, reason);
  }
  Cause& first = out.because.front();
  if (first.link.empty()) first.link = LinkOf(view.queue) + "/" + out.id;
  // Whatever keeps it now: the last failure is what an operator looks for.
  if (!row.error.empty() && reason != "parked" && reason != "backoff")
    out.Because(
        {.code = "last-error",
         .text = fmt::format("Message {} failed before ({}).", row.head, Shown(row.error))});
  AddSessionActs(out, view);
  return out;
}

Explanation Explain(const QueueView& view) {
  const QueueRow& queue = view.queue;
  const std::string name = Shown(queue.name);
  const std::int64_t cap = queue.settings.max_concurrent_sessions;
  const QueueSums& sums = view.sums;
  Explanation out{.kind = "queue",
                  .id = queue.name,
                  .state = queue.paused() ? "paused" : std::string(ToText(queue.state)),
                  .docs = "docs/queues.md"};
  out.next = {"An accept takes the sessions in their order.", 0};
  if (queue.paused()) {
    out.Because(PauseOf(queue));
    out.next = {"It takes messages and hands out nothing until somebody starts it.", 0};
  } else if (queue.state == QueueState::kDraining) {
    out.Because(
        {.code = "draining",
         .text = fmt::format("{} takes no messages any more; what is left is handed out.", name)});
    out.next = {"It goes when it is empty.", 0};
  } else if (queue.settings.scope == Scope::kNone) {
    out.Because({.code = "unordered",
                 .text = fmt::format("{} keeps no order: `tenure why topic {}` tells of its "
                                     "messages.",
                                     name, explain::Word(queue.name)),
                 .link = "/topics/" + explain::Segment(queue.name)});
    out.next = {"A claim of the topic takes them.", 0};
  } else if (cap > 0 && sums.held >= cap && sums.ready > 0) {
    out.Because(CapOf(queue, sums.held));
    out.next = {"The next end of a hold lets a session go on.", 0};
  } else if (sums.messages == 0) {
    out.Because({.code = "empty", .text = fmt::format("{} has no messages to hand out.", name)});
    out.next = {"The next message makes its session ready.", 0};
  } else {
    out.Because({.code = "ready",
                 .text = fmt::format("Of the sessions of {}, {} are ready and {} held.", name,
                                     sums.ready, sums.held)});
    if (sums.ready > 0 && IsUnasked(view.asked_ms, view.now_ms)) {
      std::string text = UnaskedText(queue, view.asked_ms) + ".";
      text.front() = 'N';
      out.Because({.code = "unasked", .text = std::move(text), .since_ms = view.asked_ms});
      out.next = {RunText(queue), 0};
    }
  }
  if (queue.oldest < queue.generation)
    out.Because({.code = "generation",
                 .text = fmt::format("Its generation {} waits until generation {} is empty.",
                                     queue.generation, queue.oldest)});
  if (sums.parked > 0)
    out.Because({.code = "parked",
                 .text = fmt::format("{} parked: a message of each cannot be processed.",
                                     Counted(sums.parked, "One session is", "sessions are")),
                 .link = LinkOf(queue)});
  if (sums.messages > 0)
    out.Because({.code = "messages",
                 .text = fmt::format("{} not done.",
                                     Counted(sums.messages, "One message is", "messages are"))});
  if (view.oldest_ms > 0 && sums.ready > 0)
    out.Because({.code = "oldest",
                 .text = fmt::format("The session that is next in line waits since {}.",
                                     UtcText(view.oldest_ms)),
                 .since_ms = view.oldest_ms});
  if (queue.settings.scope == Scope::kNone) return out;
  out.actions = {PauseAct(queue)};
  if (sums.parked > 0)
    out.actions.push_back(
        {.act = "queue.resume",
         .title = fmt::format("Resume all parked sessions of {}", name),
         .scope = kActScope,
         .method = "POST",
         .path = "/api/v1/queues/" + explain::Segment(queue.name) + "/resume",
         .command = fmt::format("tenure queue resume {} --reason …", explain::Word(queue.name))});
  return out;
}

}  // namespace tenure::queues
