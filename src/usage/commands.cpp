#include <fmt/format.h>

#include "base/decimal.hpp"
#include "cli/question.hpp"
#include "config/printable.hpp"
#include "sessions/session_kind.hpp"
#include "usage/capability.hpp"

namespace tenure::usage {
namespace {

using cli::Flags;
using sessions::KindCell;
using std::string_view;

/// Whose usage.
Flags Filter() {
  using namespace cli;  // the words of its table
  return {Value("--user", "UUID", "Only that of this user.", Uuid).As("userObjectId"),
          Value("--tenant", "UUID", "Only that of this tenant.", Uuid).As("tenantObjectId"),
          Value("--capacity", "UUID", "Only that on this capacity.", Uuid).As("capacityId")};
}

std::string WindowNumber(const cli::Flag& flag, const std::string& text) {
  try {
    return cli::Number(1, (std::int64_t{1} << 53) - 1)(flag, text);
  } catch (const cli::UsageError&) {
    throw cli::UsageError(
        fmt::format("{}: {} is no window's number", flag.name, config::Quoted(text)));
  }
}

std::string FactorNumber(const cli::Flag& flag, const std::string& text) {
  if (const auto factor = base::ParseMillionths(text)) return base::MillionthsText(*factor);
  throw cli::UsageError(fmt::format("{}: {} is not a decimal with at most six places", flag.name,
                                    config::Quoted(text)));
}

std::string FactorSet(const cli::Answer& answer, const cli::Given&) {
  const cli::JsonRow row = cli::JsonRow::Parse(answer.body);
  return config::Printable(fmt::format("{} costs {} from {} on", KindCell(row, "sessionKind", {}),
                                       row.Text("factor"), row.Text("fromUtc"))) +
         "\n";
}

std::string Totals(const cli::Answer& answer, const cli::Given& given) {
  static const cli::Print block = cli::Block(14, {{"usage", "usage"},
                                                  {"sessions", "sessions"},
                                                  {"from window", "fromWindow"},
                                                  {"since", "fromUtc"},
                                                  {"to window", "toWindow"},
                                                  {"until", "toUtc"}});
  const bool whole = cli::JsonRow::Parse(answer.body).Text("complete") != "false";
  return block(answer, given) +
         (whole ? "" : "incomplete: old sessions of these windows were removed\n");
}

constexpr string_view kWindowNotes =
    R"(Newest first. STATE: closed (not sent, or not yet), emitting, sending, sent. RECORDS is known when
the window has been put together for the receiver; REFUSED are records that the receiver does not
take, whatever is tried.

Examples:
  tenure usage windows
  tenure usage windows --all --json | jq '.items[] | select(.refusedRecords > 0)'
)";

constexpr string_view kRecordNotes =
    R"(The records as the receiver gets them, in the order of their sessions. Exit code 3 when the window
is not closed yet. The table fits 100 columns; --json tells everything.

Examples:
  tenure usage records 17
  tenure usage records 17 --tenant 0b7e4d11-93c5-4f6a-8a77-2c9d5e3f1b08 --all --json
)";

constexpr string_view kTotalNotes =
    R"(Over all closed windows, or from one to another. Exact: the sum of what was sent, to the last
millionth. One unit is 30 days of a session with the factor 1.

Examples:
  tenure usage totals
  tenure usage totals --tenant 0b7e4d11-93c5-4f6a-8a77-2c9d5e3f1b08 --from 1 --to 1440
)";

constexpr string_view kSendNotes =
    R"(For windows that were closed before usage.endpoint was set. What was sent already is not sent
again, and a receiver that gets a record twice knows it by its recordId.

Example:
  tenure usage send --from 1
)";

cli::Commands Looks() {
  using namespace cli;  // the words of its tables
  return {
      Listing({.words = "usage windows",
               .summary = "List usage windows, and what became of them",
               .notes = std::string(kWindowNotes),
               .path = "/usage/windows",
               .columns = {{"WINDOW", 8, "window"},
                           {"START", 24, "windowStartUtc"},
                           {"END", 24, "windowEndUtc"},
                           {"STATE", 8, "state"},
                           {"RECORDS", 8, "records", OrDash},
                           {"UNSENT", 8, "unsentRecords", OrDash},
                           {"REFUSED", 7, "refusedRecords", OrDash}},
               .nothing = "no usage window is closed yet",
               .cursor_field = "nextCursor"}),
      Listing({.words = "usage records",
               .summary = "List what sessions used in a window",
               .notes = std::string(kRecordNotes),
               .flags = Flags{Argument("WINDOW", "The window's number.", WindowNumber)} + Filter(),
               .path = "/usage/windows/{WINDOW}/records",
               .columns = {{"SESSION", 36, "sessionId"},
                           {"KIND", 10, "sessionKind", KindCell},
                           {"USAGE", 10, "usage"},
                           {"USER", 36, "userObjectId", Plain, "--user", true},
                           {"CAPACITY", 36, "capacityId", Plain, "--capacity", true},
                           {"TENANT", 36, "tenantObjectId", Plain, "--tenant", true}},
               .nothing = "no records",
               .cursor_field = "nextCursor"}),
      Asking({.words = "usage totals",
              .summary = "Add up what was used",
              .notes = std::string(kTotalNotes),
              .flags =
                  Filter() +
                  Flags{Value("--from", "WINDOW", "From this window on [the first].", WindowNumber)
                            .As("fromWindow"),
                        Value("--to", "WINDOW", "Up to this window [the last].", WindowNumber)
                            .As("toWindow")},
              .path = "/usage/totals",
              .print = Totals})};
}

cli::Commands FactorsAndSending() {
  using namespace cli;  // the words of its tables
  return {
      Asking({.words = "usage factors",
              .summary = "Show what each kind of session costs",
              .notes = "Each factor holds from its time on, until the next one of the same "
                       "kind.\n\nExample:\n  tenure usage factors\n",
              .path = "/usage/factors",
              .columns = {{"KIND", 10, "sessionKind", KindCell},
                          {"FACTOR", 10, "factor"},
                          {"FROM", 0, "fromUtc"}}}),
      Asking({.words = "usage factors set",
              .summary = "Change a factor, from the next window on",
              .notes = "Windows that are closed never change; the new factor holds from the "
                       "end of the current one on.\n\nExample:\n"
                       "  tenure usage factors set standard 2.5\n",
              .flags = {Argument("KIND", "1 Basic, 2 Standard, 3 Premium.", sessions::KindNumber)
                            .AsJson("sessionKind"),
                        Argument("FACTOR", "A decimal with at most six places.", FactorNumber)
                            .As("factor")},
              .method = http::Method::kPost,
              .on_record = true,
              .path = "/usage/factors",
              .print = FactorSet}),
      Asking({.words = "usage send",
              .summary = "Send older windows to the receiver",
              .notes = std::string(kSendNotes),
              .flags = {Required("--from", "WINDOW", "The first window to send.", WindowNumber)
                            .AsJson("fromWindow")},
              .method = http::Method::kPost,
              .on_record = true,
              .path = "/usage/send",
              .print = Sentence("{windows} windows will be sent; `tenure usage windows` shows "
                                "them")}),
      Listing({.words = "usage refused",
               .summary = "List records that the receiver refuses, with its words",
               .notes = "It needs the scope admin.\n\nExample:\n  tenure usage refused\n",
               .path = "/usage/refused",
               .columns = {{"WINDOW", 8, "window"},
                           {"SESSION", 36, "sessionId"},
                           {"REFUSED", kAgoWidth, "refusedUtc", Ago},
                           {"ANSWER", 0, "answer"}},
               .nothing = "no record is refused",
               .cursor_field = "nextCursor"}),
      Asking({.words = "usage resend",
              .summary = "Send refused records again, a thousand at most",
              .notes = "For when the receiver was mended: it knows a record that it has by its "
                       "recordId.\n\nExample:\n  tenure usage resend\n",
              .method = http::Method::kPost,
              .on_record = true,
              .path = "/usage/refused/resend",
              .print = Sentence("{records} records are sent again")}),
      Asking({.words = "why usage",
              .summary = "Say how far a usage window is on its way to the receiver",
              .notes = "Exit code 3 when there is no such window.\n\nExample:\n"
                       "  tenure why usage 17\n",
              .flags = {Argument("WINDOW", "The window's number.", WindowNumber)},
              .path = "/api/v1/why/usage/{WINDOW}",
              .print = Explained(),
              .part = Part::kExplain})};
}

}  // namespace

cli::Commands Commands() {
  return Looks() + cli::Commands{AuditCommand()} + FactorsAndSending() +
         cli::Commands{SinkCommand()};
}

}  // namespace tenure::usage
