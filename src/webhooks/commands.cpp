#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json_view.hpp"
#include "base/uuid.hpp"
#include "cli/question.hpp"
#include "cli/server.hpp"
#include "config/printable.hpp"
#include "http/client.hpp"
#include "webhooks/bots/change.hpp"
#include "webhooks/bots/read.hpp"
#include "webhooks/capability.hpp"
#include "webhooks/files.hpp"
#include "webhooks/rules/signature.hpp"

namespace tenure::webhooks {
namespace {

using cli::Answer;
using cli::Flags;
using cli::Given;
using cli::JsonRow;
using config::Printable;

constexpr std::size_t kMaxPayloadBytes = 25 * 1024 * 1024;
constexpr std::size_t kMaxSecretBytes = 4'096;

/// Everything that is wrong, and what looks so, a line each.
bool PrintMistakes(const bots::Reading& reading, const std::string& path, cli::Console& console) {
  for (const bots::Mistake& mistake : reading.mistakes)
    console.err << Printable(bots::ToText(mistake, path)) << "\n";
  for (const bots::Mistake& warning : reading.warnings)
    console.err << "warning: " << Printable(bots::ToText(warning, path)) << "\n";
  return !reading.mistakes.empty();
}

int CheckFile(const Given& given, cli::Console& console) {
  const std::string& path = given.Text("FILE");
  const bots::Reading reading = ReadBotsFile(path, bots::Bounds().max_history_ms);
  if (PrintMistakes(reading, path, console)) return cli::kExitUsage;
  console.out << fmt::format("{}: {} bots, {} sources, no mistakes\n", Printable(path),
                             reading.file.bots.size(), reading.file.sources.size());
  return cli::kExitDone;
}

int ApplyFile(const Given& given, cli::Console& console) {
  const std::string& path = given.Text("FILE");
  const bots::Reading reading = ReadBotsFile(path, bots::kAnyHistoryMs);
  if (PrintMistakes(reading, path, console)) return cli::kExitUsage;
  std::string query = given.Has("--dry-run") ? "&dry_run=true" : "";
  if (const auto* const revision = given.Find("--revision")) query += "&revision=" + *revision;
  if (const auto* const reason = given.Find("--reason"))
    query += "&reason=" + cli::PercentEncoded(*reason);
  if (!query.empty()) query.front() = '?';
  cli::Server server(given);
  const Answer answer =
      server.Ask(http::Method::kPut, "/api/v1/bots" + query, bots::ToJson(reading.file));
  if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
  if (server.form() == cli::Form::kJson) {
    PrintJson(answer.body, console);
    return cli::kExitDone;
  }
  const JsonRow reply = JsonRow::Parse(answer.body);
  for (const std::string& item : reply.Items("changes")) {
    const JsonRow change = JsonRow::Parse(item);
    console.out << fmt::format("{}: {}\n", Printable(change.Text("name")),
                               Printable(change.Text("detail")));
  }
  console.out << fmt::format("{}revision {}\n", given.Has("--dry-run") ? "would replace " : "",
                             reply.Number("revision"));
  return cli::kExitDone;
}

int PrintPayload(const Given& given, cli::Console& console) {
  cli::Server server(given);
  const Answer answer =
      server.Ask(http::Method::kGet, cli::PathOf("/api/v1/webhooks/events/{ID}/payload", given));
  if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
  // Programs get every byte; a terminal must not obey what a stranger wrote into an issue.
  console.out << (console.out_is_terminal ? Printable(answer.body) + "\n" : answer.body);
  return cli::kExitDone;
}

int Explain(const Given& given, cli::Console& console) {
  const std::string payload = ReadNamedFile(given.Text("FILE"), kMaxPayloadBytes);
  if (!base::JsonView::Parse(payload))
    throw base::UserError(fmt::format("{} is not JSON", given.Text("FILE")));
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Field("event", given.Text("--event"));
  if (const auto* const source = given.Find("--source")) json.Field("source", *source);
  json.Key("payload").Raw(payload).EndObject();
  cli::Server server(given);
  const Answer answer = server.Look("/api/v1/webhooks/explain", body);
  if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
  if (server.form() == cli::Form::kJson) {
    PrintJson(answer.body, console);
    return cli::kExitDone;
  }
  const JsonRow reply = JsonRow::Parse(answer.body);
  for (const std::string& item : reply.Items("bots")) {
    const JsonRow bot = JsonRow::Parse(item);
    const std::string name = Printable(bot.Text("bot"));
    if (!bot.Bool("matched")) {
      console.out << fmt::format("{}: not for it: {}\n", name, Printable(bot.Text("why")));
      continue;
    }
    console.out << fmt::format("{}: {}; {}\n", name, Printable(bot.Text("why")),
                               Printable(bot.Text("rule")));
    for (const std::string& session : bot.Items("sessions")) {
      const JsonRow place = JsonRow::Parse(session);
      console.out << fmt::format("  {} ({})\n", Printable(place.Text("name")),
                                 Printable(place.Text("key")));
    }
  }
  return cli::kExitDone;
}

/// Signs a file and sends it, as GitHub would.
int Send(const Given& given, cli::Console& console) {
  const std::string payload = ReadNamedFile(given.Text("FILE"), kMaxPayloadBytes);
  std::string secret = ReadNamedFile(given.Text("--secret-file"), kMaxSecretBytes);
  while (secret.ends_with('\n') || secret.ends_with('\r')) secret.pop_back();
  cli::Server server(given);
  const cli::Server::Address address = server.address();
  http::Client client({.base_url = address.url, .ca_file = address.ca_file});
  const std::string path = given.Has("--source")
                               ? "/webhooks/github/" + cli::PercentEncoded(given.Text("--source"))
                               : "/webhooks/github";
  const auto response = client.Send(
      http::Method::kPost, path, payload,
      {{"X-GitHub-Event", given.Text("--event")},
       {"X-GitHub-Delivery",
        given.Or("--delivery-id", base::Uuid::V7(base::SystemClock().WallMs()).ToString())},
       {"X-GitHub-Hook-ID", given.Or("--hook", "tenure-webhook-send")},
       {"X-Hub-Signature-256", rules::SignatureOf(payload, secret)}});
  const Answer answer{.status = response.status, .body = response.body};
  if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
  PrintJson(answer.body, console);
  return cli::kExitDone;
}

cli::Command QueueCheck() {
  return {.words = "queue check",
          .summary = "Look for mistakes in a file of bots",
          .notes = "Says everything that is wrong, with its line, and asks no server.",
          .flags = {cli::Argument("FILE", "A file of bots.")},
          .run = CheckFile,
          .part = cli::Part::kLookAfter};
}

cli::Command QueueApply() {
  using namespace cli;  // the words of its table
  return {.words = "queue apply",
          .summary = "Put a file of bots in force",
          .notes = "For all processes at once, while they run. Prints what changes.",
          .flags = Flags{Argument("FILE", "A file of bots."),
                         Value("--reason", "TEXT", "Why; it stands in the audit."),
                         Switch("--dry-run", "Only say what would change."),
                         Value("--revision", "N", "Only if this is the revision in force.",
                               Number(0, 1'000'000'000))} +
                   ActFlags(),
          .run = ApplyFile,
          .part = Part::kLookAfter};
}

/// Page after page, until everything was looked at.
int Replay(const Given& given, cli::Console& console) {
  cli::Server server(given);
  std::int64_t found = 0, changed = 0;
  for (std::string cursor, more = "true"; !more.empty();) {
    std::string body;
    base::JsonWriter json(body);
    json.BeginObject().Field("queue", given.Text("NAME")).Key("events").BeginObject();
    for (const auto& [flag, field] :
         {std::pair("--since", "since"), std::pair("--until", "until"),
          std::pair("--event", "event"), std::pair("--repository", "repository")})
      if (const auto* const value = given.Find(flag)) json.Field(field, *value);
    json.EndObject();
    if (given.Has("--dry-run")) json.Field("dry_run", true);
    if (const auto* const reason = given.Find("--reason")) json.Field("reason", *reason);
    if (!cursor.empty()) json.Field("cursor", cursor);
    json.EndObject();
    const Answer answer = server.Ask(http::Method::kPost, "/api/v1/webhooks/replay", body);
    if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
    const JsonRow reply = JsonRow::Parse(answer.body);
    found += reply.Number("found");
    changed += reply.Number("changed");
    more = cursor = reply.Text("next_cursor");
  }
  if (server.form() == cli::Form::kJson) {
    PrintJson(fmt::format(R"({{"found":{},"changed":{}}})", found, changed), console);
    return cli::kExitDone;
  }
  console.out << fmt::format("{} events, {} messages appended\n", found, changed);
  return cli::kExitDone;
}

cli::Command ReplayEvents() {
  using namespace cli;  // the words of its table
  return {
      .words = "webhook replay",
      .summary = "Append stored events to a bot's queue once more",
      .notes = "Routed by what the bot's file says now, in the order in which they were stored.",
      .flags =
          Flags{Argument("NAME", "The bot."), Value("--since", "TIME", "Only those since.", Time),
                Value("--until", "TIME", "Only those before.", Time),
                Value("--event", "NAME", "Only those, like issues."),
                Value("--repository", "OWNER/NAME", "Only of this one."),
                Value("--reason", "TEXT", "Why; it stands in the audit."),
                Switch("--dry-run", "Only count.")} +
          ActFlags(),
      .run = Replay,
      .part = Part::kLookAfter};
}

cli::Command Events() {
  using namespace cli;  // the words of its table
  return Listing(
      {.words = "webhook events",
       .summary = "List what webhooks brought, the latest first",
       .flags = {Value("--event", "NAME", "Only those, like issues.").As("event"),
                 Value("--repository", "OWNER/NAME", "Only of this one.").As("repository"),
                 Value("--delivery-id", "ID", "Only this one, as its source calls it.")
                     .As("delivery_id"),
                 Value("--correlation-id", "ID", "Only the one whose messages have this.", Uuid)
                     .As("correlation_id"),
                 Value("--entity", "TYPE[/ID]", "Only of this, like issue/7.").As("entity"),
                 Value("--since", "TIME", "Only those since.", Time).As("since"),
                 Value("--until", "TIME", "Only those before.", Time).As("until")},
       .path = "/api/v1/webhooks/events",
       .columns = {{"EVENT ID", 36, "event_id"},
                   {"EVENT", 12, "event"},
                   {"ACTION", 10, "action", OrDash},
                   {"REPOSITORY", 20, "repository", OrDash},
                   {"RECEIVED", kAgoWidth, "received_at", Ago}},
       .nothing = "no events",
       .part = Part::kLookAfter});
}

/// What is known of it, and then where its messages are.
std::string PrintEvent(const Answer& answer, const Given& given) {
  using namespace cli;  // the words of its table
  static const Print kEvent = Block(12, {{"event", "event_id"},
                                         {"of", "event"},
                                         {"action", "action"},
                                         {"repository", "repository"},
                                         {"entity", "entity"},
                                         {"sender", "sender"},
                                         {"source", "source"},
                                         {"hook", "hook"},
                                         {"delivery", "delivery_id"},
                                         {"received", "received_at"},
                                         {"bytes", "bytes"},
                                         {"messages", "messages"}});
  static const Print kWays = Table({{"BOT", 12, "bot"},
                                    {"STATE", 8, "state"},
                                    {"SESSION", 20, "name", OrDash},
                                    {"SEQUENCE", 8, "sequence", OrDash}},
                                   "ways");
  std::string text = kEvent(answer, given);
  if (!JsonRow::Parse(answer.body).Items("ways").empty())
    text.append("\n").append(kWays(answer, given));
  return text;
}

cli::Command Show() {
  using namespace cli;  // the words of its table
  return Asking({.words = "webhook show",
                 .summary = "Show what is known of an event",
                 .flags = {Argument("ID", "The event's id.", Uuid)},
                 .path = "/api/v1/webhooks/events/{ID}",
                 .print = PrintEvent,
                 .part = Part::kLookAfter});
}

}  // namespace

cli::Commands WebhookCommands() {
  using namespace cli;  // the words of its table
  return {QueueCheck(),
          QueueApply(),
          Events(),
          Show(),
          ReplayEvents(),
          {.words = "webhook payload",
           .summary = "Print an event's body, byte for byte",
           .notes = {},
           .flags = Flags{Argument("ID", "The event's id.", Uuid)} + ServerFlags(),
           .run = PrintPayload,
           .part = Part::kLookAfter},
          {.words = "webhook explain",
           .summary = "Say which bots would get a payload, and in which session",
           .notes = "Stores nothing.",
           .flags = Flags{Argument("FILE", "A payload, as GitHub sends it."),
                          Required("--event", "NAME", "Which event it is, like issues."),
                          Value("--source", "NAME", "Of which source [the first].")} +
                    ServerFlags(),
           .run = Explain,
           .part = Part::kLookAfter},
          {.words = "webhook send",
           .summary = "Sign a payload and send it, as GitHub would",
           .notes = {},
           .flags = Flags{Argument("FILE", "A payload."),
                          Required("--event", "NAME", "Which event it is, like issues."),
                          Required("--secret-file", "PATH", "A file with the source's secret."),
                          Value("--source", "NAME", "To which source [github]."),
                          Value("--delivery-id", "ID", "What to call it [a new UUID]."),
                          Value("--hook", "ID", "From which hook [tenure-webhook-send].")} +
                    ServerFlags(),
           .run = Send,
           .part = Part::kLookAfter}};
}

}  // namespace tenure::webhooks
