#include "app/cli/command.hpp"
#include "app/cli/flag_values.hpp"
#include "app/cli/lease_view.hpp"
#include "app/cli/server_flags.hpp"

namespace tenure::app {
namespace {

class LeaseShow final : public Command {
 public:
  std::string_view words() const override { return "lease show"; }
  std::string_view summary() const override { return "Show one lease"; }
  std::string notes() const override {
    return "Exit code 3 when it was never granted. `tenure why lease NAME` says it in "
           "sentences.\n\n"
           "Example:\n  tenure lease show nightly-report\n";
  }
  void Declare(Flags& flags) override {
    flags.Add(Flags::Argument{"NAME", "The lease.", &name_});
    server_.Declare(flags);
  }

  int Run(Console& console) override {
    return server_.Show({.path = LeasePath(name_)}, console,
                        [](const Answer& answer) { return LeaseText(ParseLease(answer)); });
  }

 private:
  std::string name_;
  ServerFlags server_;
};

}  // namespace

std::unique_ptr<Command> MakeLeaseShow() { return std::make_unique<LeaseShow>(); }

}  // namespace tenure::app
