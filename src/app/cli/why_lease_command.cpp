#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/lease_view.hpp"
#include "app/cli/server_flags.hpp"
#include "base/time_parse.hpp"
#include "base/time_text.hpp"
#include "config/printable.hpp"

namespace tenure::app {
namespace {

using leases::LeaseState;
using leases::LeaseView;

std::string Ago(const LeaseView& lease, std::int64_t ms) {
  return fmt::format("{} ago", base::SpanText(lease.now_ms - ms));
}

std::string Name(std::string_view holder) {
  return holder.empty() ? "somebody without a name" : config::Printable(holder);
}

std::string Waiting(const LeaseView& lease) {
  if (lease.waiters == 0) return "Nobody waits for it.";
  return lease.waiters == 1 ? "One waits for it." : fmt::format("{} wait for it.", lease.waiters);
}

std::string HowItEnded(const leases::PastGrant& past) {
  const std::string why =
      past.detail.empty() ? "" : fmt::format(" (\"{}\")", config::Printable(past.detail));
  switch (past.reason) {
    case leases::LossReason::kReleased:
      return "released it";
    case leases::LossReason::kBroken:
      return fmt::format("lost it to an operator{}", why);
    case leases::LossReason::kExpired:
    case leases::LossReason::kTakenOver:
      return "did not renew it in time";
    case leases::LossReason::kUnknown:
      break;
  }
  return "had it";
}

std::string Held(const LeaseView& lease) {
  return fmt::format(
      "{} is held by {} since {} ({}), with fence {}, and was renewed {}. {} Without a renewal it "
      "is free in {}{}.",
      lease.name, Name(lease.holder), TimeText(lease.granted_at_ms),
      Ago(lease, lease.granted_at_ms), lease.fence, Ago(lease, lease.renewed_at_ms), Waiting(lease),
      base::SpanText(lease.expires_at_ms - lease.now_ms),
      lease.waiters > 0 ? ", and whoever waits longest gets it" : "");
}

std::string Broken(const LeaseView& lease) {
  return fmt::format(
      "An operator broke the grant of {} (\"{}\"): it is not renewed any more. {} It can be "
      "granted "
      "again in {}, at {}, or as soon as its holder releases it.",
      Name(lease.holder), config::Printable(lease.break_reason), Waiting(lease),
      base::SpanText(lease.expires_at_ms - lease.now_ms), TimeText(lease.expires_at_ms));
}

/// A name that is free and has a line does not stay so for long, unless something is in the way.
std::string Free(const LeaseView& lease) {
  if (lease.waiters == 0) return fmt::format("{} is free: whoever asks next gets it.", lease.name);
  return fmt::format(
      "{} is free, and whoever waits longest gets it at once. {} If this lasts, a database "
      "transaction that checked the last fence is still open (see pg_stat_activity), or the store "
      "was restored and grants nothing for a while (see /health).",
      lease.name, Waiting(lease));
}

std::string Before(const LeaseView& lease) {
  if (lease.history.empty()) return {};
  const leases::PastGrant& last = lease.history.front();
  return fmt::format(" Before, {} had it for {} and {} {}.", Name(last.holder),
                     base::SpanText(last.ended_at_ms - last.granted_at_ms), HowItEnded(last),
                     Ago(lease, last.ended_at_ms));
}

std::string Explain(const LeaseView& lease) {
  const std::string now = lease.state == LeaseState::kHeld     ? Held(lease)
                          : lease.state == LeaseState::kBroken ? Broken(lease)
                                                               : Free(lease);
  return now + Before(lease) + "\n";
}

class WhyLease final : public Command {
 public:
  std::string_view words() const override { return "why lease"; }
  std::string_view summary() const override { return "Say who holds a lease and what comes next"; }
  std::string notes() const override {
    return "Who holds it, since when, until when, who waits, what happens next. Exit code 3 when "
           "it\n"
           "was never granted. With --json the lease as the server describes it.\n\nExample:\n"
           "  tenure why lease nightly-report\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"NAME", "The lease.", &name_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    return server_.Show({.path = LeasePath(name_)}, console,
                        [](const Answer& answer) { return Explain(ParseLease(answer)); });
  }

 private:
  std::string name_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeWhyLease() { return std::make_unique<WhyLease>(); }

}  // namespace tenure::app
