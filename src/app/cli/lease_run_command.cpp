#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/lease_view.hpp"
#include "app/cli/leased_process.hpp"
#include "app/cli/server_flags.hpp"
#include "base/error.hpp"
#include "config/printable.hpp"
#include "providers/http_provider.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::app {
namespace {

using leases::HeldByAnother;
using leases::Lease;
using leases::Milliseconds;

constexpr std::string_view kNotes =
    R"(The command runs while this process holds the lease and renews it (every third of --ttl). It
finds TENURE_LEASE, TENURE_FENCE and TENURE_TERM in its environment. When the lease is lost it gets
SIGTERM, and SIGKILL after --grace: until then it may still run although another holds the lease,
so send the fence along with what it writes (docs/leases.md). SIGTERM and SIGINT are passed on to
it. What it leaves running in the background is killed when it ends.

Exit code: the command's own; 128 + N when signal N ended it; 126 or 127 when it cannot be run.
4 when somebody else holds the lease (after --wait), 5 when no server answers, 6 when the lease was
lost before the command had ended, whatever that command made of it.

Examples:
  tenure lease run nightly-report -- ./report --yesterday
  tenure lease run db/migrate --wait 5m --ttl 30s -- sh -c 'echo "fence $TENURE_FENCE"; ./migrate'
)";

constexpr DurationBounds kTtl{leases::kMinTtl.count(), leases::kMaxTtl.count()};
constexpr DurationBounds kUpToADay{0, leases::kMaxTtl.count()};

class LeaseRun final : public Command {
 public:
  std::string_view words() const override { return "lease run"; }
  std::string_view summary() const override { return "Run a command while holding a lease"; }
  std::string notes() const override { return std::string(kNotes); }

  void Declare(Flags& flags) override {
    using enum Flags::Need;
    flags.Add(Flags::Argument{"NAME", "The lease.", &name_});
    flags.Add(Flags::Value{"--ttl", "DURATION", "How long the lease outlives this process [15s].",
                           kOptional, &ttl_});
    flags.Add(Flags::Value{"--wait", "DURATION",
                           "Stand in line so long when another holds it [0s].", kOptional, &wait_});
    flags.Add(Flags::Value{"--grace", "DURATION", "Between SIGTERM and SIGKILL after a loss [5s].",
                           kOptional, &grace_});
    flags.Add(Flags::Value{"--holder", "TEXT", "Who holds it, for people [HOST:PID].", kOptional,
                           &holder_});
    flags.Add(Flags::Rest{"COMMAND…", "What to run, and its arguments.", &command_.words});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    LeasePath(name_);  // says what is wrong with the name
    leases::LeaseOptions options;
    options.ttl = Milliseconds(DurationFlag("--ttl", ttl_.value_or("15s"), kTtl));
    options.holder = holder_.value_or("");
    const Milliseconds wait(DurationFlag("--wait", wait_.value_or("0s"), kUpToADay));
    command_.grace_ms = DurationFlag("--grace", grace_.value_or("5s"), kUpToADay);
    const auto [url, token, ca_file] = server_.address();

    HeldSignals signals;  // before the manager's threads
    leases::Manager manager(
        providers::OpenHttp({.base_url = url, .token = token, .ca_file = ca_file}));
    try {
      return RunWith(manager, options, wait, signals, console);
    } catch (const leases::ProviderUnavailable& error) {
      console.err << fmt::format("tenure: {}\n", config::Printable(error.what()));
      return kExitUnavailable;
    } catch (const leases::AccessDenied& error) {
      console.err << fmt::format("tenure: {}\n", config::Printable(error.what()));
      return kExitError;
    }
  }

 private:
  int RunWith(leases::Manager& manager, const leases::LeaseOptions& options, Milliseconds wait,
              HeldSignals& signals, Console& console) {
    Impatience impatience(signals);
    auto outcome = wait.count() > 0
                       ? manager.TryAcquireFor(name_, wait, options, {}, impatience.token())
                       : manager.TryAcquire(name_, options);
    if (const int signal = impatience.End()) return 128 + signal;
    if (const auto* held = std::get_if<HeldByAnother>(&outcome)) return TellHeld(*held, console);
    auto& lease = std::get<Lease>(outcome);
    command_.environment = {{"TENURE_LEASE", name_},
                            {"TENURE_FENCE", std::to_string(lease.fence())},
                            {"TENURE_TERM", lease.term()}};
    const LeasedEnd end = RunLeased(command_, lease, signals);
    return end.lost ? TellLost(lease, console) : Release(lease, end.exit_code, console);
  }

  int TellHeld(const HeldByAnother& held, Console& console) const {
    console.err << fmt::format("tenure: {} is not to be had ({})", name_,
                               leases::ToText(held.reason));
    if (held.reason == leases::HeldReason::kHeld)
      console.err << fmt::format(": {} holds it until {}", config::Printable(held.holder),
                                 TimeText(held.expires_at_ms));
    console.err << fmt::format("; the command was not run. See `tenure why lease {}`.\n", name_);
    return kExitConflict;
  }

  int TellLost(const Lease& lease, Console& console) const {
    const auto loss = lease.loss();
    console.err << fmt::format(
        "tenure: {} was lost ({}), and the command was stopped\n", name_,
        loss && loss->verdict ? leases::ToText(*loss->verdict) : "no renewal in time");
    return kExitLost;
  }

  /// The command has ended. A lease that cannot be released ends by itself; one that was not ours
  /// any more when we wanted to release it was lost while the command ran.
  int Release(Lease& lease, int exit_code, Console& console) const {
    try {
      const leases::ReleaseOutcome released = lease.Close();
      if (released.released) return exit_code;
      console.err << fmt::format("tenure: {} was lost ({}) before the command had ended\n", name_,
                                 leases::ToText(released.reason));
      return kExitLost;
    } catch (const leases::LeaseError& error) {
      console.err << fmt::format("tenure: {} could not be released ({}); it ends by itself\n",
                                 name_, config::Printable(error.what()));
      return exit_code;
    }
  }

  std::string name_;
  std::optional<std::string> ttl_;
  std::optional<std::string> wait_;
  std::optional<std::string> grace_;
  std::optional<std::string> holder_;
  LeasedCommand command_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeLeaseRun() { return std::make_unique<LeaseRun>(); }

}  // namespace tenure::app
