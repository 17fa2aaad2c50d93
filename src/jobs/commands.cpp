#include <fmt/format.h>

#include "base/time_text.hpp"
#include "cli/question.hpp"
#include "cli/server.hpp"
#include "cli/watch.hpp"
#include "config/printable.hpp"
#include "jobs/capability.hpp"
#include "jobs/job.hpp"

namespace tenure::jobs {
namespace {

using cli::Answer;
using cli::Flags;
using cli::Given;
using cli::JsonRow;
using config::Printable;
using std::string_view;
using Now = std::optional<std::int64_t>;

std::string Schedule(const JsonRow& job, string_view, Now) {
  const std::string cron = job.Text("cron");
  return cron.empty() ? "every " + job.Text("every") : cron;
}
std::string IsPaused(const JsonRow& job, string_view, Now) {
  return job.Text("enabled") == "false" ? "disabled" : job.Text("paused").empty() ? "-" : "paused";
}

cli::Print JobBlock() {
  return cli::Block(14, {{"job", "name"},
                         {"topic", "topic"},
                         {"cron", "cron"},
                         {"every", "every"},
                         {"time zone", "time_zone"},
                         {"next run", "next_run"},
                         {"last run", "last_run"},
                         {"last status", "last_status"},
                         {"paused", "paused"},
                         {"enabled", "enabled"},
                         {"missed", "missed"},
                         {"overlap", "overlap"},
                         {"gap", "gap"},
                         {"repeat", "repeat"},
                         {"jitter ms", "jitter_ms"},
                         {"starts", "starts_at"},
                         {"ends", "ends_at"},
                         {"priority", "priority"},
                         {"watch", "watch"},
                         {"managed by", "managed_by"},
                         {"revision", "revision"},
                         {"created", "created_at"},
                         {"changed", "changed_at"},
                         {"headers", "headers"},
                         {"payload", "payload"}});
}

std::string JobName(const cli::Flag& flag, const std::string& text) {
  if (IsJobName(text)) return text;
  throw cli::UsageError(
      fmt::format("{} has 1 to {} of A-Z a-z 0-9 . _ -", flag.name, kMaxNameBytes));
}

Flags TheJob() { return {cli::Argument("NAME", "The job.", JobName)}; }

Flags ZoneFlags() {
  using namespace cli;  // the words of its table
  return {
      Value("--zone", "ZONE", "An IANA time zone, such as Europe/Berlin [UTC].").As("time_zone"),
      Value("--gap", "POLICY", "end_of_gap or skip: a time that the clock leaves out.", Word)
          .As("gap"),
      Value("--repeat", "POLICY", "first, second or both: a time that it shows twice.", Word)
          .As("repeat")};
}

std::string Upcoming(const Answer& answer, const Given& given) {
  const JsonRow row = JsonRow::Parse(answer.body);
  const std::vector<cli::Column> columns = {{"TIME", 24, "time"},
                                            {"LOCAL TIME", 19, "local_time"},
                                            {"OFFSET", 6, "offset"},
                                            {"CLOCK", 8, "flag", cli::OrDash}};
  static_cast<void>(given);
  return cli::TableOf(columns, row.Items("upcoming"), std::nullopt).Text();
}

// `why job`: the job in sentences.

std::string NextSentence(const JsonRow& job) {
  if (!job.Bool("enabled")) return "It is disabled: nothing is due.";
  if (const std::string paused = job.Text("paused"); !paused.empty()) {
    const JsonRow pause = JsonRow::Parse(paused);
    const std::string until = pause.Text("until");
    return fmt::format("It is paused since {}{} (\"{}\"); `tenure job resume {}` ends that.",
                       Printable(pause.Text("since")),
                       until.empty() ? "" : " until " + Printable(until),
                       Printable(pause.Text("reason")), Printable(job.Text("name")));
  }
  const std::vector<std::string> upcoming = job.Items("upcoming");
  if (upcoming.empty()) return "Its schedule names no further time.";
  const JsonRow next = JsonRow::Parse(upcoming.front());
  return fmt::format("It runs next at {} {} ({}).", Printable(next.Text("local_time")),
                     Printable(job.Text("time_zone")), Printable(next.Text("time")));
}

std::string RunSentence(const JsonRow& run) {
  const std::string status = run.Text("status");
  const std::string at = Printable(run.Text("nominal_time"));
  if (status == "claimed")
    return fmt::format("that of {} is still claimed by {} until {}", at,
                       Printable(run.Text("owner")), Printable(run.Text("held_until")));
  if (status == "retrying")
    return fmt::format("that of {} is tried again at {} (\"{}\")", at,
                       Printable(run.Text("retry_at")), Printable(run.Text("error")));
  if (status == "ready") return fmt::format("that of {} is ready, and nobody claims it", at);
  return fmt::format("that of {} was not over", at);
}

/// Of the last run, and of what stood in its way.
std::string LastSentence(const std::vector<JsonRow>& runs) {
  if (runs.empty()) return "It has not run yet.";
  const JsonRow& last = runs.front();
  const std::string at = Printable(last.Text("nominal_time"));
  const std::string status = last.Text("status");
  if (status == "skipped" && last.Text("skipped_reason") == "missed")
    return fmt::format("{} times from {} to {} were missed and left out.",
                       last.Number("skipped_times"), Printable(last.Text("skipped_from")), at);
  if (status == "skipped" || status == "waiting") {
    const std::string verb = status == "waiting" ? "waits" : "was skipped";
    for (const JsonRow& run : runs)
      if (run.Text("run_id") == last.Text("blocked_by"))
        return fmt::format("The run of {} {} because {}.", at, verb, RunSentence(run));
    return fmt::format("The run of {} {} because an earlier one was not over.", at, verb);
  }
  if (status == "done")
    return fmt::format("The run of {} was done at {}.", at, Printable(last.Text("finished_at")));
  if (status == "dead")
    return fmt::format(
        "The run of {} is dead (\"{}\"); `tenure message redrive {}` tries it again.", at,
        Printable(last.Text("error")), Printable(last.Text("run_id")));
  return fmt::format("Of its runs, {}.", RunSentence(last));
}

bool Knows(const std::vector<JsonRow>& rows, const std::string& run_id) {
  for (const JsonRow& row : rows)
    if (row.Text("run_id") == run_id) return true;
  return false;
}

/// The run in the way of the last one may be older than a hundred that were left out for it.
void FindBlocker(cli::Server& server, const std::string& path, std::vector<JsonRow>& rows) {
  if (rows.empty()) return;
  const std::string blocker = rows.front().Text("blocked_by");
  if (blocker.empty()) return;
  for (const char* status : {"claimed", "retrying", "ready"}) {
    if (Knows(rows, blocker)) return;
    const Answer runs =
        server.Ask(http::Method::kGet, fmt::format("{}/runs?limit=20&status={}", path, status));
    if (!runs.ok()) return;
    for (const std::string& item : JsonRow::Parse(runs.body).Items("items"))
      rows.push_back(JsonRow::Parse(item));
  }
}

int Why(const Given& given, cli::Console& console) {
  cli::Server server(given);
  const std::string path = cli::PathOf("/api/v1/jobs/{NAME}", given);
  const Answer job = server.Ask(http::Method::kGet, path);
  if (!job.ok()) return ReportRefusal(job, server.form(), console);
  const Answer runs = server.Ask(http::Method::kGet, path + "/runs?limit=20");
  if (!runs.ok()) return ReportRefusal(runs, server.form(), console);
  if (server.form() == cli::Form::kJson) {
    PrintJson(fmt::format(R"({{"job":{},"runs":{}}})", job.body, runs.body), console);
    return cli::kExitDone;
  }
  std::vector<JsonRow> rows;
  for (const std::string& item : JsonRow::Parse(runs.body).Items("items"))
    rows.push_back(JsonRow::Parse(item));
  FindBlocker(server, path, rows);
  const JsonRow row = JsonRow::Parse(job.body);
  console.out << fmt::format("{}: {} {}\n", Printable(row.Text("name")), NextSentence(row),
                             LastSentence(rows));
  return cli::kExitDone;
}

void RefuseTwoSchedules(const Given& given) {
  if (given.Has("--cron") == given.Has("--every"))
    throw cli::UsageError("give one of --cron and --every");
}

constexpr string_view kPutNotes =
    R"(Makes the job, or changes it; an identical put changes nothing, also not the next run. A cron
expression has 5 fields, or 6 with seconds first.

Examples:
  tenure job put nightly --topic reports --cron '30 2 * * *' --zone Europe/Berlin
  tenure job put poll --topic polls --every 90s --payload '{"source": 7}'
)";

constexpr string_view kPreviewNotes =
    R"(Makes no job. CLOCK is `gap` where the clock leaves the time out (its end is shown), and
`repeated` where it shows it twice.

Examples:
  tenure job preview '0 30 2 * * *' --zone America/New_York
  tenure job preview '0 9 * * MON-FRI' --zone Europe/Berlin --from 2026-03-27T00:00:00Z --count 5
)";

cli::Commands LookCommands() {
  using namespace cli;  // the words of its tables
  return {
      Listing({.words = "job list",
               .summary = "List jobs, and when they run next",
               .notes = "Examples:\n  tenure job list\n  tenure job list --topic reports --json\n",
               .flags = {Value("--topic", "TOPIC", "Only those of this topic.").As("topic")},
               .path = "/api/v1/jobs",
               .columns = {{"JOB", 20, "name"},
                           {"SCHEDULE", 16, "cron", Schedule},
                           {"TIME ZONE", 14, "time_zone"},
                           {"NEXT", kAgoWidth, "next_run", In},
                           {"LAST", kAgoWidth, "last_run", Ago},
                           {"STATUS", 8, "last_status", OrDash},
                           {"PAUSED", 8, "paused", IsPaused, {}, true}},
               .nothing = "no jobs"}),
      Asking({.words = "job show",
              .summary = "Show one job, whole",
              .notes = "Exit code 3 when there is no such job.\n\nExample:\n"
                       "  tenure job show nightly\n",
              .flags = TheJob(),
              .path = "/api/v1/jobs/{NAME}",
              .print = JobBlock()}),
      Listing({.words = "job runs",
               .summary = "List the runs of a job, the latest first",
               .notes = "Skipped ones are among them; `tenure why job NAME` says why.\n\nExample:\n"
                        "  tenure job runs nightly --status dead\n",
               .flags = TheJob() + Flags{Value("--status", "STATUS",
                                               "Only those that are ready, waiting, claimed, "
                                               "retrying, done, dead or skipped.",
                                               Word)
                                             .As("status")},
               .path = "/api/v1/jobs/{NAME}/runs",
               .columns = {{"NOMINAL TIME", 24, "nominal_time"},
                           {"KIND", 8, "kind"},
                           {"STATUS", 8, "status"},
                           {"ATTEMPTS", 8, "attempts"},
                           {"FINISHED", kAgoWidth, "finished_at", Ago},
                           {"RUN", 36, "run_id", Plain, {}, true}},
               .nothing = "no runs"}),
      Asking({.words = "job preview",
              .summary = "Show the times that a schedule names, without making a job",
              .notes = std::string(kPreviewNotes),
              .flags = Flags{Argument("CRON", "5 or 6 fields, or `@every 90s`.").As("cron"),
                             Value("--from", "TIME", "From there on [now].").As("from"),
                             Value("--count", "N", "So many [20].", Number(1, kMaxPreview))
                                 .AsJson("count")} +
                       ZoneFlags(),
              .method = http::Method::kPost,
              .changes_nothing = true,
              .path = "/api/v1/jobs/preview",
              .print = Upcoming,
              .nothing = "no times"})};
}

cli::Commands ChangeCommands() {
  using namespace cli;  // the words of its tables
  return {
      Asking(
          {.words = "job put",
           .summary = "Make a job, or change it",
           .notes = std::string(kPutNotes),
           .flags =
               TheJob() +
               Flags{Required("--topic", "TOPIC", "Where its messages go.").As("topic"),
                     Value("--cron", "CRON", "When, as cron has it.").As("cron"),
                     Value("--every", "DURATION", "Or how often, such as 90s.").As("every"),
                     Value("--payload", "JSON", "Of each message [null].", Json).AsJson("payload"),
                     Value("--priority", "0-9", "0 is first [5].", Number(0, 9)).AsJson("priority"),
                     Value("--missed", "POLICY", "skip, once or all [once].", Word).As("missed"),
                     Value("--overlap", "POLICY", "allow, skip or queue_one [skip].", Word)
                         .As("overlap"),
                     Value("--starts", "TIME", "Not before.").As("starts_at"),
                     Value("--ends", "TIME", "Only before.").As("ends_at")} +
               ZoneFlags(),
           .method = http::Method::kPut,
           .path = "/api/v1/jobs/{NAME}",
           .print = Sentence("{name} runs next at {next_run}"),
           .refuse = RefuseTwoSchedules}),
      Asking({.words = "job delete",
              .summary = "Remove a job, and the runs that nobody has claimed",
              .notes = "Exit code 3 when there is no such job, 4 when the configuration file has "
                       "made it.\n\nExample:\n  tenure job delete nightly\n",
              .flags = TheJob(),
              .method = http::Method::kDelete,
              .path = "/api/v1/jobs/{NAME}",
              .print = Sentence("{NAME} is gone")}),
      Asking({.words = "job trigger",
              .summary = "Run a job now",
              .notes = "Also when it is paused or disabled. Prints the run's id, which is its "
                       "message's id.\n\nExample:\n  tenure job trigger nightly\n",
              .flags = TheJob() + Flags{Value("--payload", "JSON", "Instead of the job's.", Json)
                                            .AsJson("payload")},
              .method = http::Method::kPost,
              .path = "/api/v1/jobs/{NAME}/trigger",
              .print = Sentence("{run_id}")}),
      Asking(
          {.words = "job backfill",
           .summary = "Make up for times that never had a run",
           .notes = "Oldest first. Nothing is made when there are more than --max.\n\n"
                    "Example:\n  tenure job backfill nightly --from 2026-01-01T00:00:00Z "
                    "--to 2026-01-08T00:00:00Z\n",
           .flags =
               TheJob() +
               Flags{Required("--from", "TIME", "The first instant that counts.").As("from"),
                     Required("--to", "TIME", "The first that does not.").As("to"),
                     Value("--max", "N", "At most so many times [1000].", Number(1, kMaxBackfill))
                         .AsJson("max")},
           .method = http::Method::kPost,
           .path = "/api/v1/jobs/{NAME}/backfill",
           .print = Sentence("{runs} made, {skipped} had theirs")}),
      Asking(
          {.words = "job pause",
           .summary = "Let a job rest",
           .notes = "What falls into the pause is treated by `missed` when it ends.\n\nExample:\n"
                    "  tenure job pause nightly --reason \"the archive is closed\"\n",
           .flags =
               TheJob() +
               Flags{Required("--reason", "TEXT", "Why; `tenure why job` tells it.").As("reason"),
                     Value("--until", "TIME", "It ends by itself then.").As("until")},
           .method = http::Method::kPost,
           .path = "/api/v1/jobs/{NAME}/pause",
           .print = Sentence("{NAME} is paused")}),
      Asking({.words = "job resume",
              .summary = "End the pause of a job",
              .notes = "Example:\n  tenure job resume nightly\n",
              .flags = TheJob(),
              .method = http::Method::kPost,
              .path = "/api/v1/jobs/{NAME}/resume",
              .print = Sentence("{NAME} goes on")}),
      {.words = "why job",
       .summary = "Say when a job runs next, and what stood in its way",
       .notes = "Exit code 3 when there is no such job. With --json the job and its last runs.\n\n"
                "Example:\n  tenure why job nightly\n",
       .flags = TheJob() + Flags{WatchFlag()} + ServerFlags(),
       .run = Why,
       .part = Part::kExplain}};
}

}  // namespace

cli::Commands Commands() { return LookCommands() + ChangeCommands(); }

}  // namespace tenure::jobs
