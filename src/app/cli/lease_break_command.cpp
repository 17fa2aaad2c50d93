#include <string>

#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/lease_view.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/usage_error.hpp"
#include "base/json_writer.hpp"
#include "base/time_parse.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(The holder cannot renew any more and stops by itself; the next grant comes when its deadline has
passed, or --drain from now if that is later. With --force it comes at once, while the old holder
may still believe that it holds the lease: only those who check fences are safe then.

It reads the lease first and breaks the grant that it saw, so repeating it after a lost answer
never hits the next holder. Exit code 3 when the lease was never granted, 4 while a database
transaction that checked its fence is open: try again.

Example:
  tenure lease break nightly-report --reason "host-7 is gone" --drain 30s
)";

class LeaseBreak final : public Command {
 public:
  std::string_view words() const override { return "lease break"; }
  std::string_view summary() const override { return "End the grant of another, as an operator"; }
  std::string notes() const override { return std::string(kNotes); }

  void Declare(Flags& flags) override {
    using enum Flags::Need;
    flags.Add(Flags::Argument{"NAME", "The lease.", &name_});
    flags.Add(Flags::Value{"--reason", "TEXT", "Why; kept in the history.", kRequired, &reason_});
    flags.Add(Flags::Value{"--drain", "DURATION", "Hold off the next grant at least so long.",
                           kOptional, &drain_});
    flags.Add(Flags::Switch{"--force", "Let the next one have it at once.", &force_});
    flags.Add(Flags::Switch{"--yes", "Do not ask at a terminal.", &yes_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    const std::string path = LeasePath(name_);
    CheckFlags();
    const Answer seen = server_.Ask(http::Method::kGet, path);
    if (!seen.ok()) return ReportRefusal(seen, server_.form(), console);
    const leases::LeaseView lease = ParseLease(seen);
    if (lease.state == leases::LeaseState::kFree) {
      console.err << fmt::format("nobody holds {}: there is nothing to break\n", name_);
      return kExitDone;
    }
    if (!Confirmed(lease, console)) {
      console.err << "nothing was changed\n";
      return kExitError;
    }
    const Answer answer = server_.Ask(http::Method::kPost, path + "/break", Body(lease.fence));
    if (!answer.ok()) return ReportRefusal(answer, server_.form(), console);
    if (server_.form() == Form::kJson)
      PrintJson(answer.body, console);
    else
      console.out << Told(lease);
    return kExitDone;
  }

 private:
  void CheckFlags() {
    if (reason_->empty()) throw UsageError("--reason must say why");
    if (force_ && drain_) throw UsageError("give one of --drain and --force");
    if (drain_)
      drain_ms_ =
          DurationFlag("--drain", *drain_, {.least_ms = 0, .most_ms = leases::kMaxTtl.count()});
  }

  bool Confirmed(const leases::LeaseView& lease, Console& console) const {
    if (yes_ || console.person == nullptr) return true;
    console.err << fmt::format("{} is held by {} since {}. {} [y/N] ", name_,
                               config::Printable(lease.holder), TimeText(lease.granted_at_ms),
                               force_ ? "Give it to the next one at once?" : "Break it?");
    console.err.flush();
    std::string answer;
    std::getline(*console.person, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
  }

  std::string Body(std::int64_t fence) const {
    std::string body;
    base::JsonWriter json(body);
    json.BeginObject().Field("reason", std::string_view(*reason_)).Field("fence", fence);
    if (drain_) json.Field("drain_ms", drain_ms_);
    if (force_) json.Field("force", true);
    json.EndObject();
    return body;
  }

  /// What is so now, by another look: the grant may have ended before the break came.
  std::string Told(const leases::LeaseView& before) {
    const Answer answer = server_.Ask(http::Method::kGet, LeasePath(name_));
    const std::string whose =
        fmt::format("the grant of {} (fence {})", config::Printable(before.holder), before.fence);
    if (!answer.ok()) return fmt::format("{} is broken\n", whose);
    const leases::LeaseView now = ParseLease(answer);
    if (now.fence != before.fence || now.state == leases::LeaseState::kFree)
      return fmt::format("{} is over\n", whose);
    return fmt::format("{} is broken; {} can be granted again in {}, at {}\n", whose, name_,
                       base::SpanText(now.expires_at_ms - now.now_ms), TimeText(now.expires_at_ms));
  }

  std::string name_;
  std::optional<std::string> reason_;
  std::optional<std::string> drain_;
  std::int64_t drain_ms_ = 0;
  bool force_ = false;
  bool yes_ = false;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeLeaseBreak() { return std::make_unique<LeaseBreak>(); }

}  // namespace tenure::app
