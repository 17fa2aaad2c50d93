#include "leases/lease_run.hpp"

#include <stdexcept>

#include <fmt/format.h>

#include "base/time_text.hpp"
#include "cli/command.hpp"
#include "cli/server.hpp"
#include "client/backends.hpp"
#include "config/printable.hpp"
#include "leases/lease_store.hpp"
#include "leases/leased_process.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::leases {
namespace {

using cli::Given;

constexpr std::string_view kRunNotes =
    R"(The command runs while this process holds the lease and renews it (every third of --ttl). It
finds TENURE_LEASE, TENURE_FENCE and TENURE_TERM in its environment. When the lease is lost it gets
SIGTERM, and SIGKILL after --grace, or sooner: before another can be granted the lease. A small
guard process sees to that also when this one is stopped, starved or killed. Where even that is
not enough, send the fence along with what the command writes (docs/leases.md). SIGTERM and SIGINT
are passed on to it. What it leaves running in the background is killed when it ends.

Exit code: the command's own; 128 + N when signal N ended it; 126 or 127 when it cannot be run.
4 when somebody else holds the lease (after --wait), 5 when no server or store answers, 6 when the
lease was lost before the command had ended, whatever that command made of it.

Examples:
  tenure lease run nightly-report -- ./report --yesterday
  tenure lease run db/migrate --wait 5m --ttl 30s -- sh -c 'echo "fence $TENURE_FENCE"; ./migrate'
)";

/// A time as the server named it; it may have named anything.
std::string TimeText(std::int64_t ms) {
  constexpr std::int64_t kYear10000Ms = 253'402'300'800'000;
  return ms > 0 && ms < kYear10000Ms ? base::UtcText(ms) : "-";
}

int TellHeld(const Given& given, const HeldByAnother& held, cli::Console& console) {
  const std::string& name = given.Text("NAME");
  if (held.reason == HeldReason::kHeld)
    console.err << fmt::format("tenure: {} is held by {} until {}", name,
                               config::Printable(held.holder), TimeText(held.expires_at_ms));
  else
    console.err << fmt::format("tenure: {} is not granted now ({})", name, ToText(held.reason));
  console.err << fmt::format("; the command was not run. See `tenure {} {}{}`.\n",
                             given.Has("--store") ? "lease show" : "why lease", name,
                             given.Has("--store") ? " --store …" : "");
  return cli::kExitConflict;
}

int TellLost(const Lease& lease, cli::Console& console) {
  const auto loss = lease.loss();
  console.err << fmt::format("tenure: {} was lost ({}), and the command was stopped\n",
                             lease.name(),
                             loss && loss->verdict ? ToText(*loss->verdict) : "no renewal in time");
  return cli::kExitLost;
}

/// The command has ended. A lease that cannot be released ends by itself; one that was not ours any
/// more when we wanted to release it was lost while the command ran.
int Release(Lease& lease, int exit_code, cli::Console& console) {
  try {
    const ReleaseOutcome released = lease.Close();
    if (released.released) return exit_code;
    console.err << fmt::format("tenure: {} was lost ({}) before the command had ended\n",
                               lease.name(), ToText(released.reason));
    return cli::kExitLost;
  } catch (const LeaseError& error) {
    console.err << fmt::format("tenure: {} could not be released ({}); it ends by itself\n",
                               lease.name(), config::Printable(error.what()));
    return exit_code;
  }
}

int RunWith(Manager& manager, const Given& given, cli::HeldSignals& signals,
            cli::Console& console) {
  const auto duration = [&](std::string_view flag, std::int64_t otherwise_ms) {
    return given.Has(flag) ? cli::ToNumber(given.Text(flag)) : otherwise_ms;
  };
  const std::string& name = given.Text("NAME");
  LeaseOptions options;
  options.ttl = Milliseconds(duration("--ttl", 15'000));
  options.holder = given.Or("--holder", "");
  const Milliseconds wait(duration("--wait", 0));
  cli::Impatience impatience(signals);
  auto outcome = wait.count() > 0
                     ? manager.TryAcquireFor(name, wait, options, {}, impatience.token())
                     : manager.TryAcquire(name, options);
  if (const int signal = impatience.End()) return 128 + signal;
  if (const auto* held = std::get_if<HeldByAnother>(&outcome))
    return TellHeld(given, *held, console);
  auto& lease = std::get<Lease>(outcome);
  const LeasedEnd end = RunLeased({.words = given.All("COMMAND…"),
                                   .environment = {{"TENURE_LEASE", name},
                                                   {"TENURE_FENCE", std::to_string(lease.fence())},
                                                   {"TENURE_TERM", lease.term()}},
                                   .grace_ms = duration("--grace", 5'000)},
                                  lease, signals);
  if (end.unguarded)
    console.err << "tenure: the guard of the command was ended, and so the command was stopped\n";
  return end.lost ? TellLost(lease, console) : Release(lease, end.exit_code, console);
}

std::unique_ptr<Provider> ProviderFor(const Given& given) {
  if (auto store = OpenLeaseStore(given)) return store;
  const cli::Server::Address to = cli::Server(given).address();
  return client::MakeHttpProvider({.base_url = to.url, .token = to.token, .ca_file = to.ca_file});
}

/// Throws what ends a command with the right code.
std::unique_ptr<Manager> ManagerFor(const Given& given) {
  auto provider = ProviderFor(given);
  try {
    ManagerOptions options;
    options.require_durable_grant = !given.Has("--allow-forgetting");
    return std::make_unique<Manager>(std::move(provider), options);
  } catch (const LeaseError&) {
    RethrowForCommand();
  }
}

int RunUnderLease(const Given& given, cli::Console& console) {
  cli::HeldSignals signals;  // before the manager's threads, and those of a store
  const auto manager = ManagerFor(given);
  const auto tell = [&](const LeaseError& error, int exit) {
    console.err << fmt::format("tenure: {}\n", config::Printable(error.what()));
    return exit;
  };
  try {
    return RunWith(*manager, given, signals, console);
  } catch (const ProviderUnavailable& error) {
    return tell(error, cli::kExitUnavailable);
  } catch (const AccessDenied& error) {
    return tell(error, cli::kExitError);
  } catch (const std::invalid_argument& error) {  // a name or a ttl that this store does not take
    throw cli::UsageError(error.what());
  }
}

}  // namespace

cli::Command RunCommand() {
  using namespace cli;  // the words of its table
  const Check up_to_a_day = Duration({0, kMaxTtl.count()});
  return {
      .words = "lease run",
      .summary = "Run a command while holding a lease",
      .notes = std::string(kRunNotes),
      .flags = Flags{LeaseArgument(),
                     Value("--ttl", "DURATION", "How long the lease outlives this process [15s].",
                           Duration({kMinTtl.count(), kMaxTtl.count()})),
                     Value("--wait", "DURATION",
                           "Stand in line so long when another holds it [0s].", up_to_a_day),
                     Value("--grace", "DURATION",
                           "Between SIGTERM and SIGKILL after a loss, at most [5s].", up_to_a_day),
                     Value("--holder", "TEXT", "Who holds it, for people [HOST:PID]."),
                     Rest("COMMAND…", "What to run, and its arguments.")} +
               StoreFlags() + ServerFlags(),
      .run = RunUnderLease};
}

}  // namespace tenure::leases
