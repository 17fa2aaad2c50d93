#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/read_file.hpp"
#include "base/time_text.hpp"
#include "cli/question.hpp"
#include "cli/server.hpp"
#include "cli/watch.hpp"
#include "config/printable.hpp"
#include "seats/capability.hpp"
#include "seats/seat.hpp"

namespace tenure::seats {
namespace {

using cli::Answer;
using cli::Flags;
using cli::Given;
using cli::JsonRow;
using config::Printable;
using std::string_view;
using Now = std::optional<std::int64_t>;

constexpr string_view kLicensePath = "/api/v1/licenses/{LICENSE}";
constexpr std::int64_t kSecondMs = 1'000;
constexpr std::int64_t kHourMs = 3'600'000;
/// A machine that is resumed so often within an hour while its former process may live is two.
constexpr std::int64_t kClonedResumes = 5;

/// A duration of whole seconds; what is sent is their number.
cli::Check Seconds(std::int64_t least_ms, std::int64_t most_ms) {
  return [least_ms, most_ms](const cli::Flag& flag, const std::string& text) {
    const auto ms = base::ParseDurationMs(text);
    if (!ms || *ms % kSecondMs != 0 || *ms < least_ms || *ms > most_ms)
      throw cli::UsageError(
          fmt::format("{} is a duration of whole seconds from {} to {}, such as 6m", flag.name,
                      base::DurationText(least_ms), base::DurationText(most_ms)));
    return std::to_string(*ms / kSecondMs);
  };
}

/// A key, or @FILE that has it in its first line: what stands on a command line can be seen by every
/// user of the machine.
std::string KeyOrFile(const cli::Flag&, const std::string& text) {
  if (!text.starts_with('@')) return text;
  std::string key = base::ReadWholeFile(text.substr(1), 4'096);
  key.erase(std::min(key.find('\n'), key.size()));
  if (key.ends_with('\r')) key.pop_back();
  return key;
}

cli::Flag LicenseArgument() {
  return cli::Argument("LICENSE", "The licence's id.", cli::Uuid)
      .Named({"/api/v1/licenses?limit=500", "id"});
}
cli::Flag SessionArgument() { return cli::Argument("SESSION", "The session's id.", cli::Uuid); }
cli::Flag ReasonFlag() {
  return cli::Value("--reason", "TEXT", "Why; kept in the log.").As("reason");
}

Flags TermFlags() {
  using namespace cli;  // the words of its table
  return {
      Value("--name", "TEXT", "For people.").As("name"),
      Value("--ttl", "DURATION", "How long a seat is held after a heartbeat.",
            Seconds(kMinTtlMs, kMaxTtlMs))
          .AsJson("ttl_seconds"),
      Value("--heartbeat", "DURATION", "How often holders are told to send one.",
            Seconds(kSecondMs, kMaxTtlMs / 2))
          .AsJson("heartbeat_interval_seconds"),
      Value("--grace", "DURATION", "How much longer than that it is held.", Seconds(0, kMaxGraceMs))
          .AsJson("grace_seconds"),
      Value("--valid-from", "TIME", "Nobody gets a seat before.", Time).As("valid_from"),
      Value("--valid-until", "TIME", "Nobody gets a seat afterwards.", Time).As("valid_until"),
      Value("--metadata", "JSON", "An object of your own.", Json).AsJson("metadata")};
}

cli::Print LicenseBlock() {
  return cli::Block(14, {{"license", "id"},
                         {"key", "license_key"},
                         {"key ends with", "key_hint"},
                         {"organization", "organization"},
                         {"name", "name"},
                         {"state", "state"},
                         {"seats", "seats"},
                         {"used", "seats_used"},
                         {"offered", "seats_offered"},
                         {"remaining", "seats_remaining"},
                         {"draining", "draining"},
                         {"waiting", "waiting"},
                         {"most at once", "peak"},
                         {"frozen until", "frozen_until"},
                         {"ttl (s)", "ttl_seconds"},
                         {"heartbeat (s)", "heartbeat_interval_seconds"},
                         {"grace (s)", "grace_seconds"},
                         {"valid from", "valid_from"},
                         {"valid until", "valid_until"},
                         {"created", "created_at"},
                         {"revision", "revision"},
                         {"log", "log"},
                         {"metadata", "metadata"}});
}

cli::Print SessionBlock() {
  return cli::Block(14, {{"session", "session_id"},
                         {"license", "license_id"},
                         {"state", "state"},
                         {"machine", "machine_id"},
                         {"person", "person"},
                         {"address", "ip_address"},
                         {"user agent", "user_agent"},
                         {"slot", "slot"},
                         {"fence", "fence"},
                         {"started", "started_at"},
                         {"heartbeat", "last_heartbeat_at"},
                         {"expires", "expires_at"},
                         {"kept until", "prior_until"},
                         {"ended", "ended_at"},
                         {"why", "end_reason"},
                         {"metadata", "metadata"}});
}

cli::Print OrganizationBlock() {
  return cli::Block(14, {{"organization", "id"},
                         {"name", "name"},
                         {"contact", "contact_email"},
                         {"metadata", "metadata"},
                         {"created", "created_at"}});
}

// `why`

std::string Ago(std::int64_t now_ms, std::int64_t ms) {
  return fmt::format("{} ago", base::SpanText(std::max<std::int64_t>(0, now_ms - ms)));
}

std::string WhoseSeat(const JsonRow& session) {
  const std::string person = session.Text("person");
  return fmt::format("machine {}{}", Printable(session.Text("machine_id")),
                     person.empty() ? "" : fmt::format(" of {}", Printable(person)));
}

std::string HowItWent(const std::string& reason) {
  if (reason == "released") return "was released";
  if (reason == "resumed_elsewhere")
    return "went on under a new session: the same machine id asked for it again";
  if (reason == "revoked") return "was revoked by an operator";
  if (reason == "expired") return "expired: no heartbeat came in time";
  return fmt::format("ended ({})", Printable(reason));
}

std::string ExplainSession(const Answer& answer, const Given&) {
  const JsonRow session = JsonRow::Parse(answer.body);
  const std::int64_t now_ms = answer.server_now_ms.value_or(0);
  const std::string state = session.Text("state");
  const std::string who = WhoseSeat(session);
  if (state == "active")
    return fmt::format(
        "The seat is held by {} since {}, with fence {}. Its last heartbeat came {}; without "
        "another "
        "one it is free at {}.\n",
        who, Printable(session.Text("started_at")), session.Number("fence"),
        Ago(now_ms, session.TimeMs("last_heartbeat_at")), Printable(session.Text("expires_at")));
  if (state == "revoked")
    return fmt::format(
        "An operator revoked the seat of {}: its heartbeats are refused, and it is free at {}.\n",
        who, Printable(session.Text("expires_at")));
  if (state == "lapsed")
    return fmt::format(
        "The seat of {} has lapsed at {}: its last heartbeat came {}. Nobody has taken it; a "
        "heartbeat "
        "brings it back unless somebody waits.\n",
        who, Printable(session.Text("expires_at")),
        Ago(now_ms, session.TimeMs("last_heartbeat_at")));
  return fmt::format("The seat of {} {} at {}.\n", who, HowItWent(session.Text("end_reason")),
                     Printable(session.Text("ended_at")));
}

/// All items of a list's first pages, up to a bound.
std::vector<JsonRow> AllItems(cli::Server& server, const std::string& path, std::size_t most) {
  std::vector<JsonRow> rows;
  std::string cursor;
  do {
    const Answer page =
        server.Ask(http::Method::kGet,
                   path + (cursor.empty() ? "" : "&cursor=" + cli::PercentEncoded(cursor)));
    if (!page.ok()) break;
    const JsonRow list = JsonRow::Parse(page.body);
    for (const std::string& item : list.Items("items")) rows.push_back(JsonRow::Parse(item));
    cursor = list.Text("next_cursor");
  } while (!cursor.empty() && rows.size() < most);
  return rows;
}

std::string HeldSentence(const JsonRow& license, const std::vector<JsonRow>& sessions) {
  std::string text = fmt::format("{} of {} seats are in use", license.Number("seats_used"),
                                 license.Number("seats"));
  const std::int64_t offered = license.Number("seats_offered");
  if (offered > 0) text += fmt::format(", {} of them offered to the line", offered);
  text += ".";
  if (!sessions.empty()) {
    const JsonRow& oldest = *std::ranges::min_element(
        sessions, {}, [](const JsonRow& each) { return each.TimeMs("expires_at"); });
    text += fmt::format(" The next that may lapse is that of {}, at {}.", WhoseSeat(oldest),
                        Printable(oldest.Text("expires_at")));
  }
  return text;
}

std::string DeniedSentence(const std::vector<JsonRow>& denials) {
  std::int64_t count = 0;
  for (const JsonRow& each : denials) count += JsonRow::Parse(each.Text("detail")).Number("count");
  if (count == 0) return "The log has no denial of the last hour (they are written once a minute).";
  return fmt::format("{} requests were denied in the last hour.", count);
}

/// Machines that take their seat from each other.
std::string CloneSentence(const std::vector<JsonRow>& resumes) {
  std::map<std::string, std::int64_t> counts;
  for (const JsonRow& each : resumes) {
    const JsonRow detail = JsonRow::Parse(each.Text("detail"));
    if (detail.Text("former_live") == "true") ++counts[detail.Text("machine")];
  }
  std::string text;
  for (const auto& [machine, count] : counts)
    if (count > kClonedResumes)
      text += fmt::format(
          " The machine id {} was resumed {} times in the last hour while its former process may "
          "have "
          "been running: there are probably two machines with this id.",
          Printable(machine), count);
  return text;
}

int WhyLicense(const Given& given, cli::Console& console) {
  cli::Server server(given);
  const std::string path = cli::PathOf(kLicensePath, given);
  const Answer seen = server.Ask(http::Method::kGet, path);
  if (!seen.ok()) return ReportRefusal(seen, server.form(), console);
  if (server.form() == cli::Form::kJson) {
    PrintJson(seen.body, console);
    return cli::kExitDone;
  }
  const JsonRow license = JsonRow::Parse(seen.body);
  const std::string since =
      cli::PercentEncoded(base::UtcText(seen.server_now_ms.value_or(kHourMs) - kHourMs));
  const auto sessions = AllItems(server, path + "/sessions?state=active&limit=1000", 10'000);
  const auto denials =
      AllItems(server, path + "/log?limit=1000&kind=LICENSE_SEAT_DENIED&since=" + since, 10'000);
  const auto resumes =
      AllItems(server, path + "/log?limit=1000&kind=LICENSE_SEAT_RESUMED&since=" + since, 10'000);
  std::string text = fmt::format("The licence {} is {}. ", Printable(license.Text("id")),
                                 Printable(license.Text("state")));
  text += HeldSentence(license, sessions);
  const std::int64_t waiting = license.Number("waiting");
  text += waiting == 0 ? " Nobody waits." : fmt::format(" {} wait in line.", waiting);
  if (license.Bool("draining"))
    text +=
        " It drains: there are more seats in use than it has, and none is given before they are "
        "fewer.";
  if (!license.Text("frozen_until").empty())
    text += fmt::format(
        " It is frozen until {}: the store was restored or promoted, and may have forgotten who "
        "holds "
        "a seat. `tenure admin thaw` ends that early.",
        Printable(license.Text("frozen_until")));
  text += " " + DeniedSentence(denials) + CloneSentence(resumes);
  console.out << text << '\n';
  return cli::kExitDone;
}

constexpr string_view kCreateNotes =
    R"(Prints the licence with its key. The key is shown this once: the server keeps only its hash.
With --key a key of your own is imported; give it as @FILE, since others see your arguments.

Example:
  tenure license create --seats 25 --name "Editor, Acme" --valid-until 2027-12-31T00:00:00Z
)";

constexpr string_view kRevokeSeatNotes =
    R"(Its holder's heartbeats are refused from now on, and the seat is free when its deadline has
passed. With --force it goes to the next one at once, while its holder may believe in it until
that deadline: for so long there may be one holder more than seats, and the log says so.

Example:
  tenure seat revoke 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81 --reason "laptop was stolen"
)";

/// A PATCH with what is always the same.
cli::Command Setting(string_view words, string_view summary, string_view fixed,
                     string_view sentence) {
  return cli::Asking({.words = words,
                      .summary = summary,
                      .flags = {LicenseArgument(), ReasonFlag()},
                      .method = http::Method::kPatch,
                      .path = kLicensePath,
                      .fixed = fixed,
                      .print = cli::Sentence(sentence)});
}

cli::Commands OrganizationCommands() {
  using namespace cli;  // the words of its tables
  const Flags details = {
      Value("--contact", "EMAIL", "Whom to write to.").As("contact_email"),
      Value("--metadata", "JSON", "An object of your own.", Json).AsJson("metadata")};
  return {Asking({.words = "organization create",
                  .summary = "Make an organisation whose people may use licences",
                  .notes =
                      "Its id is the tenant of its people's tokens. Repeating it is harmless; exit "
                      "code 4 when it is\nthere and is another.\n\nExample:\n"
                      "  tenure organization create acme --name \"Acme Ltd\"\n",
                  .flags = Flags{Argument("ID", "The tenant of its tokens.").As("id"),
                                 Required("--name", "TEXT", "For people.").As("name")} +
                           details,
                  .method = http::Method::kPost,
                  .path = "/api/v1/organizations",
                  .print = OrganizationBlock()}),
          Listing({.words = "organization list",
                   .summary = "List organisations",
                   .path = "/api/v1/organizations",
                   .columns = {{"ORGANIZATION", 24, "id"},
                               {"CREATED", 24, "created_at"},
                               {"CONTACT", 12, "contact_email", OrDash},
                               {"NAME", 0, "name"}},
                   .nothing = "no organisations"}),
          Asking({.words = "organization show",
                  .summary = "Show one organisation",
                  .flags = {Argument("ID", "The organisation.")},
                  .path = "/api/v1/organizations/{ID}",
                  .print = OrganizationBlock()}),
          Asking({.words = "organization change",
                  .summary = "Change what an organisation is called, and its contact",
                  .flags = Flags{Argument("ID", "The organisation."),
                                 Value("--name", "TEXT", "For people.").As("name")} +
                           details,
                  .method = http::Method::kPatch,
                  .path = "/api/v1/organizations/{ID}",
                  .print = OrganizationBlock()})};
}

cli::Commands LicenseCommands() {
  using namespace cli;  // the words of its tables
  return {
      Asking(
          {.words = "license create",
           .summary = "Make a licence with so many seats",
           .notes = std::string(kCreateNotes),
           .flags =
               Flags{
                   Required("--seats", "N", "How many may use it at once.", Number(1, kMaxSeats))
                       .AsJson("seats"),
                   Value("--organization", "ID", "Whose it is [the token's].").As("organization")} +
               TermFlags() +
               Flags{Value("--prefix", "TEXT", "What its key begins with.").As("prefix"),
                     Value("--key", "KEY|@FILE", "A key that was made elsewhere.", KeyOrFile)
                         .As("license_key")},
           .method = http::Method::kPost,
           .path = "/api/v1/licenses",
           .print = LicenseBlock()}),
      Listing({.words = "license list",
               .summary = "List licences, and how full they are",
               .flags = {Value("--organization", "ID", "Only those of it.").As("organization"),
                         Value("--state", "active|suspended|revoked|expired|not_yet_valid",
                               "Only those in this state.", Word)
                             .As("state"),
                         Value("--key-hint", "TEXT", "Only those whose key ends with it.")
                             .As("key_hint")},
               .path = "/api/v1/licenses",
               .columns = {{"LICENSE", 36, "id"},
                           {"STATE", 9, "state"},
                           {"USED", 4, "seats_used"},
                           {"SEATS", 5, "seats"},
                           {"KEY", 4, "key_hint"},
                           {"ORGANIZATION", 12, "organization", Plain, "--organization"},
                           {"NAME", 0, "name", Plain, {}, true}},
               .nothing = "no licences",
               .top = {"seats", "license", "id"}}),
      Asking({.words = "license show",
              .summary = "Show one licence",
              .flags = {LicenseArgument()},
              .path = kLicensePath,
              .print = LicenseBlock()}),
      Asking({.words = "license change",
              .summary = "Change a licence's seats, times and name",
              .notes =
                  "A lowered limit drains: nothing is given until enough seats were released or "
                  "have lapsed.\nNo holder's deadline moves back.\n\nExample:\n"
                  "  tenure license change 0197c1f2-8a34-7d10-9b55-3f0c2e6a7d81 --seats 30\n",
              .flags = Flags{LicenseArgument(),
                             Value("--seats", "N", "How many may use it at once; 0 drains all.",
                                   Number(0, kMaxSeats))
                                 .AsJson("seats")} +
                       TermFlags() + Flags{ReasonFlag()},
              .method = http::Method::kPatch,
              .path = kLicensePath,
              .print = LicenseBlock()}),
      Setting("license suspend", "Let nobody use a licence for a while", R"("suspended":true)",
              "licence {LICENSE} is {state}"),
      Setting("license resume", "End a suspension", R"("suspended":false)",
              "licence {LICENSE} is {state}"),
      Asking({.words = "license revoke",
              .summary = "End a licence for good",
              .notes = "That is final. What it was used for stays in its log.\n",
              .flags = {LicenseArgument(), ReasonFlag()},
              .method = http::Method::kPost,
              .path = "/api/v1/licenses/{LICENSE}/revoke",
              .print = Sentence("licence {LICENSE} is {state}")}),
      Asking(
          {.words = "license rotate-key",
           .summary = "Give a licence another key",
           .notes = "Prints the new key, this once. The old one works until the overlap is over.\n",
           .flags = {LicenseArgument(),
                     Value("--overlap", "DURATION", "How long the old key still works [30d].",
                           Seconds(0, 3'660LL * 86'400'000))
                         .AsJson("overlap_seconds"),
                     Value("--key", "KEY|@FILE", "A key that was made elsewhere.", KeyOrFile)
                         .As("license_key")},
           .method = http::Method::kPost,
           .path = "/api/v1/licenses/{LICENSE}/rotate-key",
           .print = Sentence("{license_key}")}),
      Listing({.words = "license log",
               .summary = "List what happened to a licence and its seats",
               .notes = "The licence's log, oldest first. `tenure seat prove` checks it.\n",
               .flags = {LicenseArgument(),
                         Value("--kind", "KIND", "Only entries of it, LICENSE_SEAT_DENIED for one.")
                             .As("kind"),
                         Value("--since", "TIME", "Only entries since then.", Time).As("since")},
               .path = "/api/v1/licenses/{LICENSE}/log",
               .columns = {{"SEQ", 5, "seq"},
                           {"AT", 24, "at"},
                           {"KIND", 22, "kind"},
                           {"SLOT", 4, "slot", OrDash},
                           {"DETAIL", 0, "detail"}},
               .nothing = "no entries"})};
}

cli::Commands SeatCommands() {
  using namespace cli;  // the words of its tables
  return {
      Listing({.words = "seat list",
               .summary = "List who holds seats of a licence",
               .flags = {LicenseArgument(),
                         Value("--state", "active|lapsed|ended", "Only those in this state.", Word)
                             .As("state"),
                         Value("--machine", "ID", "Only those of this machine.").As("machine_id"),
                         Value("--person", "ID", "Only those of this person.").As("person")},
               .path = "/api/v1/licenses/{LICENSE}/sessions",
               .columns = {{"SESSION", 36, "session_id"},
                           {"STATE", 7, "state"},
                           {"EXPIRES", 24, "expires_at"},
                           {"PERSON", 12, "person", OrDash},
                           {"MACHINE", 0, "machine_id"}},
               .nothing = "no sessions"}),
      Asking({.words = "seat show",
              .summary = "Show one session of a seat",
              .flags = {SessionArgument()},
              .path = "/api/v1/licenses/sessions/{SESSION}",
              .print = SessionBlock()}),
      Asking({.words = "seat revoke",
              .summary = "End a session of a seat, as an operator",
              .notes = std::string(kRevokeSeatNotes),
              .flags = {SessionArgument(), ReasonFlag(),
                        Switch("--force", "Give the seat on at once.").As("force")},
              .method = http::Method::kPost,
              .path = "/api/v1/licenses/sessions/{SESSION}/revoke",
              .print = Sentence("session {SESSION} is {state}")}),
      Listing({.words = "seat tickets",
               .summary = "List who waits for a seat of a licence",
               .flags = {LicenseArgument()},
               .path = "/api/v1/licenses/{LICENSE}/tickets",
               .columns = {{"TICKET", 36, "ticket"},
                           {"STATE", 7, "state"},
                           {"PLACED", 24, "placed_at"},
                           {"PERSON", 12, "person", OrDash},
                           {"MACHINE", 0, "machine_id"}},
               .nothing = "nobody waits"}),
      Asking({.words = "why seat",
              .summary = "Say who holds a seat, or how it was lost",
              .notes = "Exit code 3 when there is no such session, or it is older than the log.\n",
              .flags = {SessionArgument()},
              .path = "/api/v1/licenses/sessions/{SESSION}",
              .print = ExplainSession,
              .part = Part::kExplain}),
      {.words = "why license",
       .summary = "Say who uses a licence, who waits, and what stands in the way",
       .notes =
           "Also whether it drains or is frozen, how many were denied in the last hour, and "
           "machine ids that\ntwo machines seem to share. With --json the licence as the server "
           "describes it.\n",
       .flags = Flags{LicenseArgument()} + Flags{WatchFlag()} + ServerFlags(),
       .run = WhyLicense,
       .part = Part::kExplain}};
}

}  // namespace

cli::Commands Commands() { return OrganizationCommands() + LicenseCommands() + SeatCommands(); }

}  // namespace tenure::seats
