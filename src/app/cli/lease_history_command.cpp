#include "app/cli/command.hpp"
#include "app/cli/exit_code.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/lease_view.hpp"
#include "app/cli/server_flags.hpp"
#include "app/cli/text_table.hpp"
#include "base/time_parse.hpp"

namespace tenure::app {
namespace {

class LeaseHistory final : public Command {
 public:
  std::string_view words() const override { return "lease history"; }
  std::string_view summary() const override { return "Show who held a lease, and how it ended"; }
  std::string notes() const override {
    return "The last 50 grants that are over, newest first. Exit code 3 when there never was one.\n"
           "\nExample:\n  tenure lease history nightly-report\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"NAME", "The lease.", &name_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    const Answer answer = server_.Ask(http::Method::kGet, LeasePath(name_));
    if (!answer.ok()) return ReportRefusal(answer, server_.form(), console);
    if (server_.form() == Form::kJson) {
      PrintJson(answer.body, console);
      return kExitDone;
    }
    const leases::LeaseView lease = ParseLease(answer);
    if (lease.history.empty())
      console.err << "no grant of it is over\n";
    else
      console.out << Table(lease);
    return kExitDone;
  }

 private:
  static std::string Table(const leases::LeaseView& lease) {
    TextTable table({{"FENCE"}, {"GRANTED", 24}, {"HELD"}, {"END"}, {"HOLDER"}, {"WHY"}});
    for (const leases::PastGrant& past : lease.history)
      table.Add({std::to_string(past.fence), TimeText(past.granted_at_ms),
                 base::SpanText(past.ended_at_ms - past.granted_at_ms),
                 std::string(leases::ToText(past.reason)), past.holder,
                 past.detail.empty() ? "-" : past.detail});
    return table.Text();
  }

  std::string name_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeLeaseHistory() { return std::make_unique<LeaseHistory>(); }

}  // namespace tenure::app
