#include <algorithm>

#include <fmt/format.h>

#include "base/read_file.hpp"
#include "base/time_text.hpp"
#include "cli/question.hpp"
#include "seats/capability.hpp"
#include "seats/ledger_commands.hpp"
#include "seats/seat.hpp"

namespace tenure::seats {
namespace {

using cli::Flags;
using std::string_view;

constexpr string_view kLicensePath = "/api/v1/licenses/{LICENSE}";
constexpr std::int64_t kSecondMs = 1'000;

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
                  .on_record = true,
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
                  .on_record = true,
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
           .on_record = true,
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
              .on_record = true,
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
              .on_record = true,
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
           .on_record = true,
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
              .path = "/api/v1/why/seat/{SESSION}",
              .print = Explained(),
              .part = Part::kExplain}),
      Asking({.words = "why license",
              .summary = "Say who uses a licence, who waits, and what stands in the way",
              .notes =
                  "Also whether it drains or is frozen, how many were denied in the last hour, "
                  "and machine ids that\ntwo machines seem to share.\n",
              .flags = {LicenseArgument()},
              .path = "/api/v1/why/license/{LICENSE}",
              .print = Explained(),
              .part = Part::kExplain})};
}

}  // namespace

cli::Commands Commands() {
  return OrganizationCommands() + LicenseCommands() + SeatCommands() + LedgerCommands();
}

}  // namespace tenure::seats
