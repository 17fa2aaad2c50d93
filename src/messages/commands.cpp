#include <fmt/format.h>

#include "base/time_text.hpp"
#include "cli/held_signals.hpp"
#include "cli/progress.hpp"
#include "cli/question.hpp"
#include "cli/server.hpp"
#include "messages/capability.hpp"
#include "messages/message.hpp"
#include "messages/topic_commands.hpp"

namespace tenure::messages {
namespace {

using cli::Answer;
using cli::Flags;
using cli::Given;
using cli::JsonRow;
using std::string_view;
using Now = std::optional<std::int64_t>;

constexpr std::int64_t kMostDelayMs = 100LL * 365 * 86'400'000;

cli::Print MessageBlock() {
  return cli::Block(14, {{"message", "id"},
                         {"topic", "topic"},
                         {"state", "state"},
                         {"why", "why"},
                         {"fired", "fired"},
                         {"priority", "priority"},
                         {"attempts", "attempts"},
                         {"crashes", "crashes"},
                         {"enqueued", "enqueued_at"},
                         {"due", "due_at"},
                         {"owner", "owner"},
                         {"fence", "fence"},
                         {"claimed", "claimed_at"},
                         {"lease until", "lease_expires_at"},
                         {"died", "died_at"},
                         {"reason", "reason"},
                         {"finished", "finished_at"},
                         {"output", "output"},
                         {"last error", "last_error"},
                         {"correlation", "correlation_id"},
                         {"headers", "headers"},
                         {"traceparent", "traceparent"},
                         {"payload", "payload"},
                         {"bytes (base64)", "payload_base64"}});
}

/// What `message enqueue` and `timer set` have in common: a topic, a payload, and when.
Flags NewMessageFlags() {
  using namespace cli;  // the words of its table
  return {Argument("TOPIC", "The topic.").As("topic"),
          Argument("JSON", "The payload.", Json).AsJson("payload"),
          Value("--due", "TIME", "Not before, such as 2026-01-31T12:00:00Z.").As("due_at"),
          Value("--delay", "DURATION", "The same, from now.", Duration({0, kMostDelayMs}))
              .AsJson("delay_ms"),
          Value("--priority", "0-9", "0 is first [5].", Number(0, 9)).AsJson("priority"),
          Value("--correlation-id", "TEXT", "Travels with it.").As("correlation_id")};
}

void RefuseTwoTimes(const Given& given) {
  if (given.Has("--due") && given.Has("--delay"))
    throw cli::UsageError("give one of --due and --delay");
}

void RefuseNoTime(const Given& given) {
  if (!given.Has("--due") && !given.Has("--delay"))
    throw cli::UsageError("--due or --delay must say when");
  RefuseTwoTimes(given);
}

/// Which dead letters a command is about.
Flags DeadLetterFlags() {
  using namespace cli;  // the words of its table
  return {Value("--topic", "TOPIC", "Only those of this topic.")
              .Named({"/api/v1/topics?limit=500"})
              .As("topic"),
          Value("--reason", "failed|attempts|crashes", "Only those that died of it.", Word)
              .As("reason")};
}

/// The same for a command that changes them.
Flags ChangedLetterFlags() {
  using namespace cli;  // the words of its table
  return Flags{Arguments("ID", "These, and no others.", Uuid)} + DeadLetterFlags() +
         Flags{Values("--id", "UUID", "The same as ID; as often as you like.", Uuid),
               Value("--because", "TEXT", "Why; it stands in the audit."),
               Switch("--dry-run", "Only say how many.").As("dry_run")};
}

std::vector<std::string> IdsOf(const Given& given) {
  std::vector<std::string> ids = given.All("ID");
  for (std::string& id : given.All("--id")) ids.push_back(std::move(id));
  return ids;
}

/// What to change. `before`: so many are behind it; the next page begins when they have gone.
std::string ChangeBody(const Given& given, std::int64_t before) {
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject();
  cli::WriteFields(json, DeadLetterFlags(), given);
  if (const std::vector<std::string> ids = IdsOf(given); !ids.empty()) {
    json.Key("ids").BeginArray();
    for (const std::string& id : ids) json.Value(string_view(id));
    json.EndArray();
  }
  if (given.Has("--rate")) {
    const std::int64_t rate = cli::ToNumber(given.Text("--rate"));
    json.Field("rate", rate).Field("delay_ms", before * 1'000 / rate);
  }
  if (given.Has("--because")) json.Field("because", string_view(given.Text("--because")));
  if (given.Has("--dry-run")) json.Field("dry_run", true);
  json.EndObject();
  return body;
}

/// Redrives or discards (`action`) page by page until nothing is left, and says how far it is. A
/// dry run asks once: what it does not change it would find for ever.
int ChangeDeadLetters(string_view action, string_view done, const Given& given,
                      cli::Console& console) {
  if (!IdsOf(given).empty() && (given.Has("--topic") || given.Has("--reason")))
    throw cli::UsageError("an ID goes without --topic and --reason");
  cli::Server server(given);
  const bool dry_run = given.Has("--dry-run");
  cli::Progress progress(console, "dead letters");
  // A page that is under way is finished, and told of. Not before the first one: whoever is asked
  // whether it is meant may answer with Ctrl-C.
  std::optional<cli::HeldSignals> signals;
  std::int64_t total = 0;
  while (true) {
    const Answer answer =
        server.Ask(http::Method::kPost, fmt::format("/api/v1/dead-letters/{}", action),
                   ChangeBody(given, total));
    if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
    if (!signals) signals.emplace();
    const JsonRow page = JsonRow::Parse(answer.body);
    const std::int64_t found = page.Number("found");
    total += found;
    const bool more = page.Text("has_more") == "true" && found > 0;
    if (server.form() == cli::Form::kJson) PrintJson(answer.body, console);
    progress.At(total);
    if (!dry_run && more) {
      const int signal = signals->Take();
      if (signal == 0) continue;
      progress.End();
      console.err << fmt::format("stopped: {} dead letters {}; the same command goes on\n", total,
                                 done);
      return 128 + signal;
    }
    progress.End();
    if (server.form() == cli::Form::kTable)
      console.out << fmt::format("{} {} {}\n", total, total == 1 ? "dead letter" : "dead letters",
                                 !dry_run ? done
                                 : more   ? "or more would be changed"
                                          : "would be changed");
    return cli::kExitDone;
  }
}

int Redrive(const Given& given, cli::Console& console) {
  return ChangeDeadLetters("redrive", "redriven", given, console);
}

int Discard(const Given& given, cli::Console& console) {
  if (IdsOf(given).empty() && !given.Has("--topic") && !given.Has("--reason"))
    throw cli::UsageError("--topic, --reason or an ID must say which");
  return ChangeDeadLetters("discard", "discarded", given, console);
}

constexpr string_view kEnqueueNotes =
    R"(Prints the message's id. With --dedup-key a second one within the topic's time (10 minutes)
is not enqueued, and the earlier one's id is printed.

Example:
  tenure message enqueue orders '{"order": 7}' --priority 1
)";

constexpr string_view kDeadNotes =
    R"(Messages that were given up, oldest first. `tenure message show ID` shows one whole,
`tenure message redrive` puts them back, `tenure message discard` puts them away for good.

Example:
  tenure message dead --topic orders --reason attempts
)";

constexpr string_view kRedriveNotes =
    R"(Puts dead letters back into their lines, with their attempts forgotten, until none is left that
fits: all of them without ID, --topic and --reason. Repeating it after a lost answer is harmless.
With --rate they become ready one after the other.

Examples:
  tenure message redrive 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81
  tenure message redrive --topic orders --dry-run
  tenure message redrive --topic orders --rate 50
)";

constexpr string_view kDiscardNotes =
    R"(Puts dead letters away for good, until none is left that fits. One of ID, --topic and --reason
must say which.

Example:
  tenure message discard --topic orders --reason failed --dry-run
)";

cli::Commands MessageCommands() {
  using namespace cli;  // the words of its tables
  return {Asking({.words = "message show",
                  .summary = "Show one message, whole",
                  .notes = "Exit code 3 when there is no such message: it is done, or was never "
                           "enqueued.\n\nExample:\n"
                           "  tenure message show 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81\n",
                  .flags = {Argument("ID", "The message.", Uuid)},
                  .path = "/api/v1/messages/{ID}",
                  .print = MessageBlock()}),
          Asking({.words = "message enqueue",
                  .summary = "Put a message in",
                  .notes = std::string(kEnqueueNotes),
                  .flags = NewMessageFlags() +
                           Flags{Value("--dedup-key", "TEXT", "Only once within the topic's time.")
                                     .As("dedup_key")},
                  .method = http::Method::kPost,
                  .path = "/api/v1/messages",
                  .print = Sentence("{id}"),
                  .refuse = RefuseTwoTimes})};
}

cli::Commands DeadLetterCommands() {
  using namespace cli;  // the words of its tables
  return {
      Listing({.words = "message dead",
               .summary = "List dead letters",
               .notes = std::string(kDeadNotes),
               .flags = Flags{Value("--order", "asc|desc", "The oldest first, or the newest [asc].",
                                    Word)
                                  .As("order")} +
                        DeadLetterFlags(),
               .path = "/api/v1/dead-letters",
               .columns = {{"MESSAGE", 36, "id"},
                           {"TOPIC", 16, "topic"},
                           {"REASON", 8, "reason"},
                           {"ATTEMPTS", 8, "attempts"},
                           {"DIED", kAgoWidth, "died_at", Ago},
                           {"LAST ERROR", 10, "last_error", OrDash}},
               .nothing = "no dead letters"}),
      {.words = "message redrive",
       .summary = "Put dead letters back into their lines",
       .notes = std::string(kRedriveNotes),
       .flags = ChangedLetterFlags() +
                Flags{Value("--rate", "N", "So many a second.", Number(1, 100'000))} + ActFlags(),
       .run = Redrive},
      {.words = "message discard",
       .summary = "Put dead letters away for good",
       .notes = std::string(kDiscardNotes),
       .flags = ChangedLetterFlags() + ActFlags(),
       .run = Discard}};
}

cli::Commands TimerCommands() {
  using namespace cli;  // the words of its tables
  return {
      Listing({.words = "timer list",
               .summary = "List messages that wait for their time, the next one first",
               .notes = "Example:\n  tenure timer list --topic reminders\n",
               .flags = {Value("--topic", "TOPIC", "Only those of this topic.")
                             .Named({"/api/v1/topics?limit=500"})
                             .As("topic")},
               .path = "/api/v1/timers",
               .columns = {{"TIMER", 36, "id"},
                           {"TOPIC", 24, "topic"},
                           {"DUE", kAgoWidth, "due_at", In},
                           {"ENQUEUED", kAgoWidth, "enqueued_at", Ago}},
               .nothing = "no timers"}),
      Asking({.words = "timer set",
              .summary = "Enqueue a message for later",
              .notes = "Prints the timer's id, which is the message's id too.\n\nExample:\n"
                       "  tenure timer set reminders '{\"invoice\": 7}' --delay 30d\n",
              .flags = NewMessageFlags(),
              .method = http::Method::kPost,
              .path = "/api/v1/timers",
              .print = Sentence("{id}"),
              .refuse = RefuseNoTime}),
      Asking({.words = "timer show",
              .summary = "Show a timer, and whether it has fired",
              .notes = "Exit code 3 when there is no such timer: it was cancelled, or its message "
                       "is done.\n\nExample:\n"
                       "  tenure timer show 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81\n",
              .flags = {Argument("ID", "The timer.", Uuid)},
              .path = "/api/v1/timers/{ID}",
              .print = MessageBlock()}),
      Asking({.words = "timer cancel",
              .summary = "Take a timer back before it fires",
              .notes = "Exit code 4 when it has fired already, 3 when there is no such timer.\n\n"
                       "Example:\n  tenure timer cancel 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81\n",
              .flags = {Argument("ID", "The timer.", Uuid)},
              .method = http::Method::kDelete,
              .on_record = true,
              .path = "/api/v1/timers/{ID}",
              .print = Sentence("cancelled")}),
      Asking({.words = "why message",
              .summary = "Say what a message waits for",
              .notes = "Where it is, who has it, what it waits for and until when. Exit code 3 "
                       "when there is no such\nmessage: it is done, or was never enqueued.\n\n"
                       "Example:\n"
                       "  tenure why message 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81\n",
              .flags = {Argument("ID", "The message.", Uuid)},
              .path = "/api/v1/why/message/{ID}",
              .print = Explained(),
              .part = Part::kExplain})};
}

}  // namespace

cli::Commands Commands() {
  return TopicCommands() + MessageCommands() + DeadLetterCommands() + TimerCommands();
}

}  // namespace tenure::messages
