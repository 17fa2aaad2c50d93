#include <fmt/format.h>

#include "base/time_text.hpp"
#include "base/uuid.hpp"
#include "cli/question.hpp"
#include "cli/server.hpp"
#include "cli/watch.hpp"
#include "config/printable.hpp"
#include "queues/capability.hpp"
#include "queues/queue.hpp"
#include "queues/queue_run.hpp"

namespace tenure::queues {
namespace {

using cli::Answer;
using cli::Flags;
using cli::Given;
using cli::JsonRow;
using config::Printable;
using std::string_view;
using Now = std::optional<std::int64_t>;

std::string OldestCell(const JsonRow& queue, string_view field, Now) {
  const std::int64_t ms = queue.Number(field);
  return ms > 0 ? base::SpanText(ms) : "-";
}
std::string PausedCell(const JsonRow& queue, string_view field, Now now_ms) {
  return queue.Bool("paused") ? cli::OrDash(queue, field, now_ms) : "-";
}

std::string QueueName(const cli::Flag& flag, const std::string& text) {
  if (!text.empty() && text.size() <= kMaxNameBytes) return text;
  throw cli::UsageError(fmt::format("{} has 1 to {} bytes", flag.name, kMaxNameBytes));
}

cli::Flag QueueArgument() { return cli::Argument("QUEUE", "The queue of a bot.", QueueName); }
cli::Flag SessionArgument() {
  return cli::Argument("SESSION", "A session: its key, its printed name or its id.");
}
cli::Flag ReasonFlag() {
  return cli::Required("--reason", "TEXT", "Why, for the record.").As("reason");
}

// A session is named by its key, by what is printed of it, or by its id.

constexpr string_view kSessionsPath = "/api/v1/queues/{QUEUE}/sessions";

/// The session that SESSION names, as the server shows it. No 200, or no body: there is none.
Answer FindSession(cli::Server& server, const Given& given) {
  const std::string& text = given.Text("SESSION");
  const std::string path = cli::PathOf(kSessionsPath, given);
  if (base::Uuid::Parse(text)) return server.Ask(http::Method::kGet, path + "/" + text);
  Answer found =
      server.Ask(http::Method::kGet, path + "?limit=1000&key=" + cli::PercentEncoded(text));
  if (!found.ok()) return found;
  const auto items = JsonRow::Parse(found.body).Items("items");
  found.body.clear();
  // A key comes before what is printed, and the latest generation last.
  for (const std::string& item : items)
    if (found.body.empty() || JsonRow::Parse(item).Text("key") == text) found.body = item;
  return found;
}
bool IsThere(const Answer& found) { return found.ok() && !found.body.empty(); }
int ReportMissing(const Answer& found, const Given& given, cli::Server& server,
                  cli::Console& console) {
  if (!found.ok()) return ReportRefusal(found, server.form(), console);
  console.err << fmt::format("tenure: there is no session {} in the queue {}\n",
                             Printable(given.Text("SESSION")), Printable(given.Text("QUEUE")));
  return cli::kExitNotFound;
}

/// A command that looks at one session.
int LookAt(const Given& given, cli::Console& console, const cli::Print& print) {
  cli::Server server(given);
  const Answer found = FindSession(server, given);
  if (!IsThere(found)) return ReportMissing(found, given, server, console);
  if (server.form() == cli::Form::kJson)
    PrintJson(found.body, console);
  else
    console.out << print(found, given);
  return cli::kExitDone;
}

int ShowSession(const Given& given, cli::Console& console) {
  static const cli::Print block = cli::Block(14, {{"session", "session"},
                                                  {"key", "key"},
                                                  {"name", "name"},
                                                  {"state", "state"},
                                                  {"why", "why"},
                                                  {"generation", "generation"},
                                                  {"depth", "depth"},
                                                  {"head", "head"},
                                                  {"attempts", "attempts"},
                                                  {"fence", "fence"},
                                                  {"consumer", "consumer"},
                                                  {"lease until", "lease_expires_at"},
                                                  {"until", "until"},
                                                  {"parked", "parked_at"},
                                                  {"died of", "death_reason"},
                                                  {"error", "error"},
                                                  {"error class", "error_class"},
                                                  {"head sent", "head_enqueued_at"},
                                                  {"created", "created_at"},
                                                  {"active", "active_at"}});
  return LookAt(given, console, block);
}

/// Named within its queue, or by its id alone.
int ExplainSession(const Given& given, cli::Console& console) {
  cli::Server server(given);
  std::string id = given.Text("QUEUE");
  if (given.All("SESSION").size() > 1) throw cli::UsageError("name one SESSION");
  if (!given.All("SESSION").empty()) {
    const Answer found = FindSession(server, given);
    if (!IsThere(found)) return ReportMissing(found, given, server, console);
    id = JsonRow::Parse(found.body).Text("session");
  } else if (!base::Uuid::Parse(id)) {
    throw cli::UsageError("name a QUEUE and a SESSION, or give a session's id alone");
  }
  const Answer why =
      server.Ask(http::Method::kGet, "/api/v1/why/queue-session/" + cli::PercentEncoded(id));
  if (!why.ok()) return ReportRefusal(why, server.form(), console);
  if (server.form() == cli::Form::kJson)
    PrintJson(why.body, console);
  else
    console.out << cli::Explained()(why, given);
  return cli::kExitDone;
}

/// An act on one session.
template <class Write>
int ActOn(string_view act, string_view done, const Given& given, cli::Console& console,
          const Write& write) {
  cli::Server server(given);
  const Answer found = FindSession(server, given);
  if (!IsThere(found)) return ReportMissing(found, given, server, console);
  const JsonRow session = JsonRow::Parse(found.body);
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Field("reason", given.Text("--reason"));
  write(json, session);
  json.EndObject();
  const Answer answer = server.Ask(http::Method::kPost,
                                   fmt::format("{}/{}/{}", cli::PathOf(kSessionsPath, given),
                                               cli::PercentEncoded(session.Text("session")), act),
                                   body);
  if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
  if (server.form() == cli::Form::kJson) {
    PrintJson(answer.body, console);
    return cli::kExitDone;
  }
  const JsonRow now = JsonRow::Parse(answer.body);
  console.out << fmt::format("{} {}: it is {}, and {} messages wait\n", Printable(now.Text("name")),
                             done, Printable(now.Text("state")), now.Number("depth"));
  return cli::kExitDone;
}
void WriteNothing(base::JsonWriter&, const JsonRow&) {}

int Break(const Given& given, cli::Console& console) {
  return ActOn("break", "was taken from its holder", given, console, WriteNothing);
}
int Discard(const Given& given, cli::Console& console) {
  return ActOn("discard", "was emptied", given, console, WriteNothing);
}
int Skip(const Given& given, cli::Console& console) {
  return ActOn("skip", "goes on behind that message", given, console,
               [](base::JsonWriter& json, const JsonRow& session) {
                 json.Field("sequence", session.Number("head"));
               });
}

// Many at once.

/// Which letters an act is about.
Flags LetterFilterFlags() {
  using namespace cli;  // the words of its table
  return {Value("--error-class", "TEXT", "Only those with this cause.").As("error_class"),
          Value("--died-of", "max_delivery_count|ttl|rejected|skipped|dropped",
                "Only those that died of it.", Word)
              .As("death_reason"),
          Value("--entity", "KIND", "Only about things of this kind, like issue.").As("entity"),
          Switch("--dry-run", "Only count.").As("dry_run")};
}

/// Page after page, until everything was looked at.
int ChangeLetters(string_view path, string_view fixed, string_view what, const Flags& fields,
                  const Given& given, cli::Console& console) {
  cli::Server server(given);
  std::int64_t found = 0, changed = 0;
  std::string cursor;
  do {
    std::string body;
    base::JsonWriter json(body);
    json.BeginObject();
    cli::WriteFields(json, fields, given);
    if (!fixed.empty()) json.Field("mode", fixed);
    if (!cursor.empty()) json.Field("cursor", cursor);
    json.EndObject();
    const Answer answer = server.Ask(http::Method::kPost, cli::PathOf(path, given), body);
    if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
    const JsonRow reply = JsonRow::Parse(answer.body);
    found += reply.Number("found");
    changed += reply.Number("changed");
    cursor = reply.Text("next_cursor");
  } while (!cursor.empty());
  if (server.form() == cli::Form::kJson)
    PrintJson(fmt::format(R"({{"found":{},"changed":{}}})", found, changed), console);
  else
    console.out << fmt::format("{} found, {} {}\n", found, changed, what);
  return cli::kExitDone;
}

Flags ActFlags() { return Flags{ReasonFlag()} + LetterFilterFlags(); }

Flags RateFlag() {
  return {
      cli::Value("--rate", "N", "So many a second go on.", cli::Number(1, 100'000)).AsJson("rate")};
}

int Resume(const Given& given, cli::Console& console) {
  return ChangeLetters("/api/v1/queues/{QUEUE}/resume", "", "go on", ActFlags() + RateFlag(), given,
                       console);
}
int ResumeOne(const Given& given, cli::Console& console) {
  if (given.All("SESSION").empty()) return Resume(given, console);
  if (given.All("SESSION").size() > 1) throw cli::UsageError("name one SESSION, or none for all");
  return ActOn("resume", "goes on", given, console, WriteNothing);
}
int Redrive(const Given& given, cli::Console& console) {
  return ChangeLetters("/api/v1/queues/{QUEUE}/dead-letters/replay", "append", "appended",
                       ActFlags(), given, console);
}
int Rewind(const Given& given, cli::Console& console) {
  return ChangeLetters("/api/v1/queues/{QUEUE}/dead-letters/replay", "rewind",
                       "sessions go on at them", ActFlags(), given, console);
}
int Forget(const Given& given, cli::Console& console) {
  return ChangeLetters("/api/v1/queues/{QUEUE}/dead-letters/discard", "", "are gone", ActFlags(),
                       given, console);
}

/// What a session has done, page after page.
int Replay(const Given& given, cli::Console& console) {
  cli::Server server(given);
  const Answer named = FindSession(server, given);
  if (!IsThere(named)) return ReportMissing(named, given, server, console);
  const JsonRow row = JsonRow::Parse(named.body);
  const std::string session = row.Text("session");
  std::int64_t changed = 0;
  std::string from = given.Or("--from", "1");
  // Not what this very command appends.
  const std::string to = given.Or("--to", std::to_string(row.Number("head") - 1));
  if (to == "0") {
    console.out << "0 messages appended\n";
    return cli::kExitDone;
  }
  for (bool is_first = true; !from.empty(); is_first = false) {
    std::string body;
    base::JsonWriter json(body);
    json.BeginObject().Field("reason", given.Text("--reason")).Field("session", session);
    json.Key("from").Raw(from).Key("to").Raw(to);
    if (is_first && given.Has("--clear-state")) json.Field("clear_state", true);
    json.EndObject();
    const Answer answer =
        server.Ask(http::Method::kPost, cli::PathOf("/api/v1/queues/{QUEUE}/replay", given), body);
    if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
    const JsonRow reply = JsonRow::Parse(answer.body);
    changed += reply.Number("changed");
    from = reply.Text("next_cursor");
  }
  if (server.form() == cli::Form::kJson)
    PrintJson(fmt::format(R"({{"changed":{}}})", changed), console);
  else
    console.out << fmt::format("{} messages appended\n", changed);
  return cli::kExitDone;
}

constexpr string_view kRefer =
    "\n\nA session is named by its key, by what is printed of it, or by "
    "its id. Exit code 3 when\nthere is none.\n";

cli::Commands Looks() {
  using namespace cli;  // the words of its tables
  return {
      Listing({.words = "queue list",
               .summary = "List the queues of bots, and how full they are",
               .notes = "READY, HELD and PARKED count sessions: add consumers by READY, never by "
                        "the messages.\nOLDEST is for how long the head of the session that is "
                        "next in line has waited.\n",
               .path = "/api/v1/queues",
               .columns = {{"QUEUE", 22, "queue"},
                           {"SCOPE", 10, "ordering_scope"},
                           {"STATE", 8, "state"},
                           {"MESSAGES", 8, "messages"},
                           {"READY", 6, "ready_sessions"},
                           {"HELD", 6, "held_sessions"},
                           {"PARKED", 6, "parked_sessions"},
                           {"OLDEST", 8, "oldest_ready_ms", OldestCell},
                           {"PAUSED", 6, "paused_reason", PausedCell}},
               .nothing = "no queues"}),
      Asking({.words = "queue show",
              .summary = "Show one queue: its state, its settings, what it has",
              .notes = "Exit code 3 when there is none.\n\nExample:\n  tenure queue show triage\n",
              .flags = {QueueArgument()},
              .path = "/api/v1/queues/{QUEUE}",
              .print = Block(16, {{"queue", "queue"},
                                  {"state", "state"},
                                  {"ordering scope", "ordering_scope"},
                                  {"generation", "generation"},
                                  {"paused", "paused_reason"},
                                  {"messages", "messages"},
                                  {"bytes", "bytes"},
                                  {"ready sessions", "ready_sessions"},
                                  {"held sessions", "held_sessions"},
                                  {"backing off", "backoff_sessions"},
                                  {"parked sessions", "parked_sessions"},
                                  {"staged", "staged"},
                                  {"waits for", "older"},
                                  {"last asked", "last_asked_at"},
                                  {"consumers", "consumers"},
                                  {"utilization", "utilization"},
                                  {"settings", "settings"}})}),
      Listing(
          {.words = "queue sessions",
           .summary = "List the sessions of a queue, each with why it does not move",
           .notes = {},
           .flags = {QueueArgument(),
                     Value("--state", "idle|ready|held|parked", "Only those.", Word).As("state"),
                     Value("--consumer", "TEXT", "Only those that it holds.").As("consumer"),
                     Value("--share", "TEXT", "Only of this one.").As("share"),
                     Value("--min-depth", "N", "Only those with so many messages at least.",
                           Number(0, 1'000'000'000))
                         .As("min_depth")},
           .path = kSessionsPath,
           .columns = {{"SESSION", 30, "name"},
                       {"REASON", 10, "reason"},
                       {"DEPTH", 6, "depth"},
                       {"HEAD", 6, "head"},
                       {"CONSUMER", 16, "consumer", OrDash},
                       {"ACTIVE", kAgoWidth, "active_at", Ago}},
           .nothing = "no sessions"}),
      {.words = "queue session",
       .summary = "Show one session, and why it does not move",
       .notes = "Example:\n  tenure queue session triage acme/shop/issue/7" + std::string(kRefer),
       .flags = Flags{QueueArgument(), SessionArgument()} + ServerFlags(),
       .run = ShowSession},
      Listing(
          {.words = "queue peek",
           .summary = "List the messages of a session, history too, without a hold on it",
           .notes = "ID is a session's, as `tenure queue sessions --json` has it.\n",
           .flags =
               {QueueArgument(), Argument("ID", "The session's id.", Uuid),
                Value("--state", "waiting|parked|done|dead", "Only those.", Word).As("state"),
                Value("--from", "N", "From this sequence on.", Number(1, 1LL << 52)).As("from")},
           .path = "/api/v1/queues/{QUEUE}/sessions/{ID}/messages",
           .columns = {{"SEQUENCE", 8, "sequence"},
                       {"STATE", 8, "state"},
                       {"BYTES", 8, "bytes"},
                       {"SENT", kAgoWidth, "enqueued_at", Ago},
                       {"MESSAGE", 36, "id"},
                       {"EVENT", 36, "event_id", OrDash, {}, true}},
           .nothing = "no messages"}),
      Listing({.words = "queue dead",
               .summary = "List messages that could not be processed",
               .notes = "Parked ones are in the way of their sessions; skipped ones were passed "
                        "over. FOLLOWERS wait\nbehind them.\n",
               .flags = {QueueArgument(),
                         Value("--state", "parked|skipped", "Only those.", Word).As("state"),
                         Value("--error-class", "TEXT", "Only those with this cause.")
                             .As("error_class")},
               .path = "/api/v1/queues/{QUEUE}/dead-letters",
               .columns = {{"SESSION", 30, "name"},
                           {"SEQUENCE", 8, "sequence"},
                           {"STATE", 7, "state"},
                           {"DIED OF", 18, "death_reason"},
                           {"FOLLOWERS", 9, "followers"},
                           {"ERROR", 10, "error", OrDash},
                           {"DIED", kAgoWidth, "died_at", Ago, {}, true}},
               .nothing = "no dead letters"}),
      Asking({.words = "queue causes",
              .summary = "The same, summed up by what they have in common",
              .notes = {},
              .flags = {QueueArgument()},
              .path = "/api/v1/queues/{QUEUE}/dead-letters/summary",
              .print = Table({{"DIED OF", 18, "death_reason"},
                              {"COUNT", 6, "count"},
                              {"SESSIONS", 8, "sessions"},
                              {"OLDEST", kAgoWidth, "oldest", Ago},
                              {"ERROR CLASS", 20, "error_class"}}),
              .nothing = "no dead letters"}),
      Asking({.words = "why queue",
              .summary = "Say whether a queue hands out its sessions, and what keeps it from that",
              .notes = "Exit code 3 when there is none.\n\nExample:\n  tenure why queue triage\n",
              .flags = {QueueArgument()},
              .path = "/api/v1/why/queue/{QUEUE}",
              .print = Explained(),
              .part = Part::kExplain}),
      {.words = "why queue-session",
       .summary = "Say why a session of an ordered queue does not move",
       .notes = "Who holds it since when, what it waits for and until when, which message stopped "
                "it. A session's\nid says all: it needs no QUEUE before it.\n\nExamples:\n"
                "  tenure why queue-session triage acme/shop/issue/7\n"
                "  tenure why queue-session 6f0f7f0e-3f1c-8a5e-9d3b-0c6f5b2a4e11" +
                std::string(kRefer),
       .flags = Flags{Argument("QUEUE", "Its queue, or the session's id.", QueueName),
                      Arguments("SESSION", "The session: its key, its printed name or its id."),
                      WatchFlag()} +
                ServerFlags(),
       .run = ExplainSession,
       .part = Part::kExplain}};
}

cli::Commands Acts() {
  using namespace cli;  // the words of its tables
  const auto on_session = [](std::string_view words, std::string_view summary, std::string notes,
                             int (*run)(const Given&, Console&)) {
    return Command{.words = words,
                   .summary = summary,
                   .notes = std::move(notes) + std::string(kRefer).substr(2),
                   .flags = Flags{QueueArgument(), SessionArgument(), ReasonFlag()} + ServerFlags(),
                   .run = run};
  };
  const auto on_letters = [](std::string_view words, std::string_view summary, std::string notes,
                             int (*run)(const Given&, Console&)) {
    return Command{.words = words,
                   .summary = summary,
                   .notes = std::move(notes),
                   .flags = Flags{QueueArgument()} + ActFlags() + ServerFlags(),
                   .run = run};
  };
  return {
      Asking({.words = "queue send",
              .summary = "Put a message into a session",
              .notes = "Prints the message's id.\n\nExample:\n"
                       "  tenure queue send orders customer-7 '{\"order\": 1}'\n",
              .flags = {QueueArgument(), Argument("KEY", "The session's key.").As("session_key"),
                        Argument("JSON", "The payload.", Json).AsJson("payload"),
                        Value("--dedup-key", "TEXT", "Only once within the queue's window.")
                            .As("dedup_key"),
                        Value("--correlation-id", "TEXT", "Travels with it.").As("correlation_id")},
              .method = http::Method::kPost,
              .path = "/api/v1/queues/{QUEUE}/messages",
              .print = Sentence("{id}")}),
      {.words = "queue resume",
       .summary = "Let parked sessions go on, at the message that could not be processed",
       .notes = "One that SESSION names, or all that the flags find.\n\nExamples:\n"
                "  tenure queue resume triage acme/shop/issue/7 --reason \"mended\"\n"
                "  tenure queue resume triage --error-class \"HTTP #\" --rate 10 --reason \"it is "
                "back\"\n",
       .flags = Flags{QueueArgument(), Arguments("SESSION",
                                                 "This one: its key, printed name or "
                                                 "id.")} +
                ActFlags() + RateFlag() + ServerFlags(),
       .run = ResumeOne},
      on_session("queue skip", "Pass over the first message of a session",
                 "It goes to the dead letters: `tenure queue rewind` puts it back, `tenure queue "
                 "redrive`\nappends it.\n\n",
                 Skip),
      on_session("queue break", "End a hold on a session, whoever has it",
                 "Its holder's reports are stale from then on.\n\n", Break),
      on_session("queue discard", "Put away all messages of a session that wait", "", Discard),
      on_letters("queue redrive", "Send messages that were passed over once more",
                 "Behind what waits in their sessions, as new messages.\n", Redrive),
      on_letters("queue rewind", "Put messages that were passed over back into their places",
                 "As long as nothing behind them was completed or discarded.\n", Rewind),
      on_letters("queue forget", "Put messages that were passed over away for good", "", Forget),
      {.words = "queue replay",
       .summary = "Send what a session has done once more, behind what waits in it",
       .notes = "Example:\n  tenure queue replay triage acme/shop/issue/7 --from 3 --reason "
                "\"lost its state\"" +
                std::string(kRefer),
       .flags =
           Flags{QueueArgument(), SessionArgument(), ReasonFlag(),
                 Value("--from", "N", "From this sequence on [1].", Number(1, 1LL << 52)),
                 Value("--to", "N", "Up to this one [all that is done].", Number(1, 1LL << 52)),
                 Switch("--clear-state", "Empty what its consumers keep with it first.")} +
           ServerFlags(),
       .run = Replay},
      Asking({.words = "queue pause",
              .summary = "Hand out nothing of a queue for now",
              .notes = "It takes messages; what is in somebody's hands may be finished.\n",
              .flags = {QueueArgument(), ReasonFlag()},
              .method = http::Method::kPatch,
              .path = "/api/v1/queues/{QUEUE}",
              .fixed = R"("paused":true)",
              .print = Sentence("{QUEUE} is paused")}),
      Asking(
          {.words = "queue drop",
           .summary = "Let a queue whose bot was removed go now, with what is left in it",
           .notes = "Whoever holds a session of it loses it, and the messages that wait are put "
                    "away. It goes ten\nthousand sessions at a time: when it is draining "
                    "afterwards, say it once more. A queue without\norder goes when its topic is "
                    "empty.\n\nExample:\n  tenure queue drop triage --reason \"the bot "
                    "is gone\"\n",
           .flags = {QueueArgument(),
                     cli::Value("--reason", "TEXT", "Why; it stands in the audit.").As("reason")},
           .method = http::Method::kDelete,
           .path = "/api/v1/queues/{QUEUE}",
           .print = Sentence("{QUEUE} is {state}: {sessions} sessions were cleared")}),
      Asking({.words = "queue start",
              .summary = "Let a paused queue go on",
              .notes = {},
              .flags = {QueueArgument(), ReasonFlag()},
              .method = http::Method::kPatch,
              .path = "/api/v1/queues/{QUEUE}",
              .fixed = R"("paused":false)",
              .print = Sentence("{QUEUE} goes on")})};
}

}  // namespace

cli::Commands Commands() { return Looks() + Acts() + cli::Commands{QueueRunCommand()}; }

}  // namespace tenure::queues
