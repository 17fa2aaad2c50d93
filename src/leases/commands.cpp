#include <algorithm>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "cli/question.hpp"
#include "cli/server.hpp"
#include "config/printable.hpp"
#include "leases/capability.hpp"
#include "leases/lease.hpp"
#include "leases/lease_run.hpp"
#include "leases/lease_store.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::leases {
namespace {

using cli::Answer;
using cli::Given;
using cli::JsonRow;
using config::Printable;
using std::string_view;
using Now = std::optional<std::int64_t>;

constexpr string_view kLeasePath = "/api/v1/leases/{NAME}";

/// The states that a lease can be in. Throws base::UserError for any other.
enum class State { kFree, kHeld, kBroken };
State StateOf(const JsonRow& lease) {
  const std::string text = lease.Text("state");
  if (text == "free") return State::kFree;
  if (text == "held") return State::kHeld;
  if (text == "broken") return State::kBroken;
  throw cli::NotUnderstood("it is no lease");
}
/// The state, and of one that is free why the next who asks does not get it: the same reasons, and in
/// the same order, as an acquire is answered with (Ledger::WhyNot).
std::string StateCell(const JsonRow& lease, string_view field, Now) {
  if (StateOf(lease) != State::kFree) return lease.Text(field);
  return !lease.Text("frozen_until").empty() ? "frozen"
         : lease.Number("waiters") > 0       ? "queued"
         : !lease.Text("guard").empty()      ? "guarded"
                                             : "free";
}

/// Whose transaction holds off the next grant, as far as it is known: "process 4711 of user app, begun
/// 12s ago"; nothing of a lease without one.
std::string GuardText(const JsonRow& lease, Now now_ms) {
  if (lease.Text("guard").empty()) return {};
  const JsonRow guard = JsonRow::Parse(lease.Text("guard"));
  // One that was prepared for two-phase commit has none.
  std::string text = guard.Text("pid").empty() ? "without a process (see pg_prepared_xacts)"
                                               : fmt::format("process {}", guard.Number("pid"));
  if (!guard.Text("user").empty())
    text += fmt::format(" of user {}", Printable(guard.Text("user")));
  if (!guard.Text("since").empty() && now_ms)
    text += fmt::format(", begun {} ago", base::SpanText(*now_ms - guard.TimeMs("since")));
  return text;
}
std::string GuardCell(const JsonRow& lease, string_view, Now) {
  return GuardText(lease, lease.TimeMs("now"));
}

/// How long it will be held without a renewal, "12s"; nothing of one that is free.
std::string Left(const JsonRow& lease, string_view field, Now) {
  if (StateOf(lease) == State::kFree) return {};
  return base::SpanText(lease.TimeMs(field) - lease.TimeMs("now"));
}
/// The same in a list, whose items do not say what time it is.
std::string LeftCell(const JsonRow& lease, string_view field, Now now_ms) {
  if (StateOf(lease) == State::kFree || !now_ms) return "-";
  return base::SpanText(lease.TimeMs(field) - *now_ms);
}
std::string Since(const JsonRow& lease, string_view, Now now_ms) {
  return cli::Ago(lease, StateOf(lease) == State::kFree ? "ended_at" : "granted_at", now_ms);
}
std::string Ttl(const JsonRow& lease, string_view field, Now) {
  if (StateOf(lease) == State::kFree) return {};
  return base::DurationText(std::max<std::int64_t>(lease.Number(field), 0));
}

std::string HeldFor(const JsonRow& grant, string_view, Now = {}) {
  return base::SpanText(grant.TimeMs("ended_at") - grant.TimeMs("granted_at"));
}

std::string History(const Answer& answer, const Given& given) {
  if (JsonRow::Parse(answer.body).Items("history").empty()) return {};
  static const cli::Print table = cli::Table({{"FENCE", 0, "fence"},
                                              {"GRANTED", 24, "granted_at"},
                                              {"HELD", 0, {}, HeldFor},
                                              {"END", 0, "reason"},
                                              {"HOLDER", 0, "holder"},
                                              {"WHY", 0, "detail", cli::OrDash}},
                                             "history");
  return table(answer, given);
}

// `lease break`

bool Confirmed(const JsonRow& lease, const Given& given, cli::Console& console) {
  if (given.Has("--yes") || console.person == nullptr) return true;
  console.err << fmt::format(
      "{} is held by {} since {}. {} [y/N] ", given.Text("NAME"), Printable(lease.Text("holder")),
      Printable(lease.Text("granted_at")),
      given.Has("--force") ? "Give it to the next one at once?" : "Break it?");
  console.err.flush();
  std::string answer;
  std::getline(*console.person, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

/// What is so after it, by another look: the grant may have ended before the break came.
std::string Told(const JsonRow& before, const Answer& after, const std::string& name) {
  const std::int64_t fence = before.Number("fence");
  const std::string whose =
      fmt::format("the grant of {} (fence {})", Printable(before.Text("holder")), fence);
  if (!after.ok()) return fmt::format("{} is broken\n", whose);
  const JsonRow now = JsonRow::Parse(after.body);
  if (now.Number("fence") != fence || StateOf(now) == State::kFree)
    return fmt::format("{} is over\n", whose);
  return fmt::format("{} is broken; {} can be granted again in {}, at {}\n", whose, name,
                     Left(now, "expires_at", {}), Printable(now.Text("expires_at")));
}

constexpr string_view kBreakNotes =
    R"(The holder cannot renew any more and stops by itself; the next grant comes when its deadline has
passed, or --drain from now if that is later. With --force it comes at once, while the old holder
may still believe that it holds the lease: only those who check fences are safe then.

It reads the lease first and breaks the grant that it saw, so repeating it after a lost answer
never hits the next holder. Exit code 3 when the lease was never granted, 4 while a database
transaction that checked its fence is open: try again.

Example:
  tenure lease break nightly-report --reason "host-7 is gone" --drain 30s
)";

std::string Why(const cli::Flag& flag, const std::string& text) {
  if (text.empty()) throw cli::UsageError(fmt::format("{} must say why", flag.name));
  return text;
}

cli::Flags BreakFlags() {
  return {LeaseArgument(), cli::Required("--reason", "TEXT", "Why; kept in the history.", Why),
          cli::Value("--drain", "DURATION", "Hold off the next grant at least so long.",
                     cli::Duration({0, kMaxTtl.count()}))
              .AsJson("drain_ms"),
          cli::Switch("--force", "Let the next one have it at once.").As("force")};
}

int Break(const Given& given, cli::Console& console) {
  if (given.Has("--force") && given.Has("--drain"))
    throw cli::UsageError("give one of --drain and --force");
  const std::string& name = given.Text("NAME");
  const std::string path = cli::PathOf(kLeasePath, given);
  cli::Server server(given, LeaseStore);
  const Answer seen = server.Ask(http::Method::kGet, path);
  if (!seen.ok()) return ReportRefusal(seen, server.form(), console);
  const JsonRow lease = JsonRow::Parse(seen.body);
  if (StateOf(lease) == State::kFree) {
    console.err << fmt::format("nobody holds {}: there is nothing to break\n", name);
    return cli::kExitDone;
  }
  if (!Confirmed(lease, given, console)) {
    console.err << "nothing was changed\n";
    return cli::kExitError;
  }
  std::string body;
  base::JsonWriter json(body);
  json.BeginObject().Field("reason", given.Text("--reason")).Field("fence", lease.Number("fence"));
  cli::WriteFields(json, BreakFlags(), given);
  json.EndObject();
  const Answer answer = server.Ask(http::Method::kPost, path + "/break", body);
  if (!answer.ok()) return ReportRefusal(answer, server.form(), console);
  if (server.form() == cli::Form::kJson)
    PrintJson(answer.body, console);
  else
    console.out << Told(lease, server.Ask(http::Method::kGet, path), name);
  return cli::kExitDone;
}

constexpr string_view kListNotes =
    R"(Leases come in the order of their names. LEFT is what is left without a renewal.

Examples:
  tenure lease list --state held
  tenure lease list --prefix shard/ --all
  tenure lease list --all --json | jq -r '.items[].name'
)";

}  // namespace

cli::Flag LeaseArgument() {
  return cli::Argument("NAME", "The lease.",
                       [](const cli::Flag&, const std::string& text) {
                         if (IsLeaseName(text)) return text;
                         throw cli::UsageError(fmt::format(
                             "{} is no lease's name: 1 to {} of A-Z a-z 0-9 . _ : / @ -",
                             config::Quoted(text), kMaxNameBytes));
                       })
      .Named({"/api/v1/leases?limit=500&prefix={}"});
}

cli::Commands Commands() {
  using namespace cli;  // the words of its tables
  return {
      Listing(
          {.words = "lease list",
           .summary = "List leases, and who holds them",
           .notes = std::string(kListNotes),
           .flags = Flags{Value("--prefix", "TEXT", "Only names that begin with it.").As("prefix"),
                          Value("--holder", "TEXT", "Only those held by it.").As("holder"),
                          Value("--state", "free|held|broken", "Only those in this state.", Word)
                              .As("state")} +
                    StoreFlags(),
           .path = "/api/v1/leases",
           .columns = {{"LEASE", 24, "name"},
                       {"STATE", 7, "state", StateCell},
                       {"LEFT", 8, "expires_at", LeftCell},
                       {"WAITING", 7, "waiters"},
                       {"FENCE", 6, "fence"},
                       {"SINCE", kAgoWidth, {}, Since},
                       {"HOLDER", 6, "holder"}},
           .nothing = "no leases",
           .elsewhere = LeaseStore,
           .top = {"leases", "lease"}}),
      Asking({.words = "lease show",
              .summary = "Show one lease",
              .notes = "Exit code 3 when it was never granted. `tenure why lease NAME` says it in "
                       "sentences.\n\nExample:\n  tenure lease show nightly-report\n",
              .flags = Flags{LeaseArgument()} + StoreFlags(),
              .path = kLeasePath,
              .print = Block(10, {{"lease", "name"},
                                  {"state", "state", StateCell},
                                  {"fence", "fence"},
                                  {"holder", "holder"},
                                  {"term", "term"},
                                  {"metadata", "metadata"},
                                  {"ttl", "ttl_ms", Ttl},
                                  {"granted", "granted_at"},
                                  {"renewed", "renewed_at"},
                                  {"expires", "expires_at"},
                                  {"ended", "ended_at"},
                                  {"left", "expires_at", Left},
                                  {"broken", "break_reason"},
                                  {"frozen", "frozen_until"},
                                  {"guard", "guard", GuardCell},
                                  {"waiting", "waiters"}}),
              .elsewhere = LeaseStore}),
      Asking({.words = "lease history",
              .summary = "Show who held a lease, and how it ended",
              .notes = "The last 50 grants that are over, newest first. Exit code 3 when there "
                       "never was one.\n\nExample:\n  tenure lease history nightly-report\n",
              .flags = Flags{LeaseArgument()} + StoreFlags(),
              .path = kLeasePath,
              .print = History,
              .is_table = true,
              .nothing = "no grant of it is over",
              .elsewhere = LeaseStore}),
      {.words = "lease break",
       .summary = "End the grant of another, as an operator",
       .notes = std::string(kBreakNotes),
       .flags = BreakFlags() + StoreFlags() + ActFlags(),
       .run = Break},
      RunCommand(),
      Asking({.words = "why lease",
              .summary = "Say who holds a lease and what comes next",
              .notes = "Who holds it, since when, until when, who waits, what happens next. Exit "
                       "code 3 when it\nwas never granted.\n\nExample:\n"
                       "  tenure why lease nightly-report\n",
              .flags = {LeaseArgument()},
              .path = "/api/v1/why/lease/{NAME}",
              .print = Explained(),
              .part = Part::kExplain})};
}

}  // namespace tenure::leases
