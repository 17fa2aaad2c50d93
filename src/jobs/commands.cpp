#include <fmt/format.h>

#include "cli/question.hpp"
#include "jobs/capability.hpp"
#include "jobs/job.hpp"

namespace tenure::jobs {
namespace {

using cli::Answer;
using cli::Flags;
using cli::Given;
using cli::JsonRow;
using std::string_view;
using Now = std::optional<std::int64_t>;

std::string Schedule(const JsonRow& job, string_view, Now) {
  const std::string cron = job.Text("cron");
  return cron.empty() ? "every " + job.Text("every") : cron;
}
std::string IsPaused(const JsonRow& job, string_view, Now) {
  return job.Text("enabled") == "false" ? "disabled" : job.Text("paused").empty() ? "-" : "paused";
}

/// A job that has no next run says why.
std::string WhenItRuns(const Answer& answer, const Given&) {
  const JsonRow job = JsonRow::Parse(answer.body);
  const std::string name = job.Text("name");
  if (const std::string next = job.Text("next_run"); !next.empty())
    return fmt::format("{} runs next at {}\n", name, next);
  if (job.Text("enabled") == "false") return fmt::format("{} is disabled and does not run\n", name);
  if (!job.Text("paused").empty())
    return fmt::format("{0} is paused: `tenure job resume {0}` ends that\n", name);
  return fmt::format("{} does not run any more: its schedule names no later time\n", name);
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
      Value("--gap", "end_of_gap|skip", "For a time that the clock leaves out [end_of_gap].", Word)
          .As("gap"),
      Value("--repeat", "first|second|both", "For a time that it shows twice [first].", Word)
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
               .flags = TheJob() +
                        Flags{Value("--status", "ready|waiting|claimed|retrying|done|dead|skipped",
                                    "Only those in this state.", Word)
                                  .As("status")},
               .path = "/api/v1/jobs/{NAME}/runs",
               .columns = {{"NOMINAL TIME", 24, "nominal_time"},
                           {"KIND", 8, "kind"},
                           {"STATUS", 8, "status"},
                           {"ATTEMPTS", 8, "attempts"},
                           {"STARTED", kAgoWidth, "started_at", Ago},
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
                     Value("--missed", "skip|once|all",
                           "What becomes of times that passed meanwhile [once].", Word)
                         .As("missed"),
                     Value("--overlap", "allow|skip|queue_one", "While a run is not over [skip].",
                           Word)
                         .As("overlap"),
                     Value("--starts", "TIME", "Not before.").As("starts_at"),
                     Value("--ends", "TIME", "Only before.").As("ends_at")} +
               ZoneFlags(),
           .method = http::Method::kPut,
           .on_record = true,
           .path = "/api/v1/jobs/{NAME}",
           .print = WhenItRuns,
           .refuse = RefuseTwoSchedules}),
      Asking({.words = "job delete",
              .summary = "Remove a job, and the runs that nobody has claimed",
              .notes = "Exit code 3 when there is no such job, 4 when the configuration file has "
                       "made it.\n\nExample:\n  tenure job delete nightly\n",
              .flags = TheJob(),
              .method = http::Method::kDelete,
              .on_record = true,
              .path = "/api/v1/jobs/{NAME}",
              .print = Sentence("{NAME} is deleted")}),
      Asking({.words = "job trigger",
              .summary = "Run a job now",
              .notes = "Also when it is paused or disabled. Prints the run's id, which is its "
                       "message's id.\n\nExample:\n  tenure job trigger nightly\n",
              .flags = TheJob() + Flags{Value("--payload", "JSON", "Instead of the job's.", Json)
                                            .AsJson("payload")},
              .method = http::Method::kPost,
              .on_record = true,
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
           .on_record = true,
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
              .on_record = true,
              .path = "/api/v1/jobs/{NAME}/resume",
              .print = Sentence("{NAME} goes on")}),
      Asking({.words = "why job",
              .summary = "Say when a job runs next, and what stood in its way",
              .notes = "Exit code 3 when there is no such job.\n\nExample:\n"
                       "  tenure why job nightly\n",
              .flags = TheJob(),
              .path = "/api/v1/why/job/{NAME}",
              .print = Explained(),
              .part = Part::kExplain})};
}

}  // namespace

cli::Commands Commands() { return LookCommands() + ChangeCommands(); }

}  // namespace tenure::jobs
