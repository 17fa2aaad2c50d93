#include "seats/seat_run.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/operator_url.hpp"
#include "base/read_file.hpp"
#include "cli/held_signals.hpp"
#include "cli/server.hpp"
#include "client/seats/seat_core.hpp"
#include "config/environment.hpp"
#include "config/printable.hpp"
#include "leases/leased_process.hpp"
#include "tenure/seats/seat_holder.hpp"

namespace tenure::seats {
namespace {

using cli::Given;

constexpr std::int64_t kGraceMs = 10'000;
constexpr std::int64_t kLongestWaitMs = 7 * 86'400'000LL;
constexpr std::size_t kMaxKeyFileBytes = 4'096;

constexpr std::string_view kSeatRunNotes =
    R"(The command runs while this process holds a seat of the licence and sends heartbeats. It finds
TENURE_SEAT_SESSION and TENURE_SEAT_FENCE in its environment. When the seat is lost it gets
SIGTERM, and SIGKILL after --grace. SIGTERM and SIGINT are passed on to it. What it leaves running
in the background is killed when it ends.

--license takes a key, or @FILE with a key in it; without it TENURE_LICENSE does. Arguments are
visible to other users of the machine: prefer a file. The command is handed neither key nor token.

Each run has a seat of its own. With --machine-id it has the seat of that machine: a run that was
killed gets it back at once, and of two that run together the later one takes it over. --state-file
keeps what a restart needs to name the run before it.

Exit code: the command's own; 128 + N when signal N ended it; 126 or 127 when it cannot be run.
4 when no seat is free (after --wait), 5 when no server answers, 6 when the seat was lost
before the command had ended, whatever that command made of it.

Examples:
  tenure seat run --license @/etc/acme/license --wait 30m -- ./simulate model.dat
  TENURE_LICENSE=ACME-2026-… tenure seat run -- sh -c 'echo "fence $TENURE_SEAT_FENCE"; ./job'
)";

std::string KeyOfFile(const std::string& path) {
  try {
    std::string key = base::ReadWholeFile(path, kMaxKeyFileBytes);
    while (key.ends_with('\n') || key.ends_with('\r')) key.pop_back();
    return key;
  } catch (const base::UserError& error) {
    throw base::UserError(fmt::format("{}: {}", path, error.what()));
  }
}

/// A message must never have the key in it, also where it is none.
std::string LicenseKeyOf(const Given& given) {
  const std::string* const flag = given.Find("--license");
  const std::string text =
      flag ? *flag
           : config::FindVariable(config::CurrentEnvironment(), "TENURE_LICENSE").value_or("");
  if (text.empty()) throw cli::UsageError("give a key by --license KEY, @FILE or TENURE_LICENSE");
  return text.starts_with('@') ? KeyOfFile(text.substr(1)) : text;
}

/// The server's words, but where they are about its API.
std::string WhyNone(const NoSeat& none, bool has_waited) {
  if (none.reason != NoSeat::Reason::kInUse) return none.detail;
  if (!has_waited) return "all seats are taken; with --wait 30m it stands in line";
  if (none.position == 0) return "all seats are taken";
  return fmt::format("it was number {} in the line when the wait was over", none.position);
}

int TellNoSeat(const NoSeat& none, bool has_waited, cli::Console& console) {
  const std::string why = WhyNone(none, has_waited);
  const bool is_full =
      none.reason == NoSeat::Reason::kInUse || none.reason == NoSeat::Reason::kFrozen;
  console.err << fmt::format("tenure: {} ({})", is_full ? "no seat is free" : "no seat is given",
                             ToText(none.reason));
  if (!why.empty()) console.err << fmt::format(": {}", config::Printable(why));
  console.err << "; the command was not run\n";
  return cli::kExitConflict;
}

int TellSeatLost(const SeatHolder& holder, cli::Console& console) {
  const auto loss = holder.loss();
  console.err << fmt::format(
      "tenure: the seat was lost ({}), and the command was stopped\n",
      loss && loss->verdict ? ToText(*loss->verdict) : "no heartbeat in time");
  return cli::kExitLost;
}

/// The command has ended. A seat that cannot be released ends by itself; one that was not ours any
/// more when we wanted to release it was lost while the command ran.
int ReleaseSeat(SeatHolder& holder, int exit_code, cli::Console& console) {
  try {
    const Released released = holder.Close();
    if (released.released) return exit_code;
    console.err << fmt::format("tenure: the seat was lost ({}) before the command had ended\n",
                               released.reason ? ToText(*released.reason) : "no heartbeat in time");
    return cli::kExitLost;
  } catch (const SeatError& error) {
    console.err << fmt::format("tenure: the seat could not be released ({}); it ends by itself\n",
                               config::Printable(error.what()));
    return exit_code;
  }
}

SeatOptions OptionsOf(const Given& given) {
  const auto duration = [&](std::string_view flag, std::int64_t otherwise_ms) {
    return Milliseconds(given.Has(flag) ? cli::ToNumber(given.Text(flag)) : otherwise_ms);
  };
  SeatOptions options;
  options.license_key = LicenseKeyOf(given);
  options.application = "tenure-seat-run";
  options.machine_id = given.Or("--machine-id", "");
  options.machine_scope = MachineScope::kProcess;
  options.state_file = given.Or("--state-file", "");
  options.wait = duration("--wait", 0);
  options.tries_when_in_use = 0;
  options.acquire_again = false;
  return options;
}

int RunWithSeat(SeatHolder& holder, const Given& given, cli::HeldSignals& signals,
                cli::Console& console) {
  cli::Impatience impatience(signals);
  const AcquireOutcome outcome = holder.Acquire(impatience.token());
  if (const int signal = impatience.End()) return 128 + signal;
  if (const auto* none = std::get_if<NoSeat>(&outcome))
    return TellNoSeat(*none, given.Has("--wait"), console);
  const Seat& seat = std::get<Seat>(outcome);
  const std::int64_t grace_ms =
      given.Has("--grace") ? cli::ToNumber(given.Text("--grace")) : kGraceMs;
  const leases::LeasedEnd end =
      leases::RunHeld({.words = given.All("COMMAND…"),
                       .environment = {{"TENURE_SEAT_SESSION", seat.session_id},
                                       {"TENURE_SEAT_FENCE", std::to_string(seat.fence)}},
                       .grace_ms = grace_ms},
                      {.remaining = [&holder] { return holder.Remaining(); },
                       .spare = Milliseconds(grace_ms * 4 / 3),  // three quarters of it are used
                       .lost = holder.token()},
                      signals);
  return end.lost ? TellSeatLost(holder, console) : ReleaseSeat(holder, end.exit_code, console);
}

int RunUnderSeat(const Given& given, cli::Console& console) {
  const cli::Server::Address to = cli::Server(given).address();
  if (base::IsClearText(to.url) && !given.Has("--insecure"))
    throw cli::UsageError(fmt::format(
        "the licence's key would be sent to {} in clear text: use https://, or say --insecure",
        config::Printable(to.url)));
  const SeatOptions options = OptionsOf(given);
  cli::HeldSignals signals;  // before the holder's threads
  const auto tell = [&](const std::exception& error, int exit) {
    console.err << fmt::format("tenure: {}\n", config::Printable(error.what()));
    return exit;
  };
  try {
    const auto holder = client::MakeSeatHolder(
        options, {},
        client::SharedSeatServer({.base_url = to.url, .token = to.token, .ca_file = to.ca_file},
                                 {}));
    return RunWithSeat(*holder, given, signals, console);
  } catch (const Unavailable& error) {
    return tell(error, cli::kExitUnavailable);
  } catch (const SeatError& error) {
    return tell(error, cli::kExitError);
  } catch (const std::invalid_argument& error) {
    return tell(error, cli::kExitUsage);
  }
}

}  // namespace

cli::Command SeatRunCommand() {
  using namespace cli;  // the words of its table
  return {
      .words = "seat run",
      .summary = "Run a command while holding a seat of a licence",
      .notes = std::string(kSeatRunNotes),
      .flags =
          Flags{Value("--license", "KEY|@FILE",
                      "The licence's key, or a file with it [TENURE_LICENSE]."),
                Value("--wait", "DURATION", "Stand in line so long when all seats are taken [0s].",
                      Duration({0, kLongestWaitMs})),
                Value("--grace", "DURATION", "Between SIGTERM and SIGKILL after a loss [10s].",
                      Duration({0, 86'400'000})),
                Value("--machine-id", "TEXT", "Whose seat it is [this run's own]."),
                Value("--state-file", "FILE", "What a restart needs to resume its seat."),
                Rest("COMMAND…", "What to run, and its arguments.")} +
          ServerFlags(),
      .run = RunUnderSeat};
}

}  // namespace tenure::seats
