#include "app/cli/command.hpp"
#include "app/cli/settings_flags.hpp"
#include "app/store_commands.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(A database that was restored from a backup, or a standby that was promoted without synchronous
replication, has forgotten commits that were answered. Tenure notices most such cases by itself;
this is for the ones that it cannot see. New fences then start above all that were ever given
out, and for a while nothing is granted that somebody may still hold.

Example:
  tenure admin new-incarnation --store postgres://tenure@db.internal/tenure
)";

class NewIncarnation final : public Command {
 public:
  std::string_view words() const override { return "admin new-incarnation"; }
  std::string_view summary() const override {
    return "Tell the store that it may have forgotten commits";
  }
  std::string notes() const override { return std::string(kNotes); }
  void Declare(Flags& flags) override { settings_.Declare(flags); }
  int Run(Console&) override {
    return RunNewIncarnation(config::Load(settings_.Sources()).settings);
  }

 private:
  SettingsFlags settings_;
};

}  // namespace

std::unique_ptr<Command> MakeNewIncarnation() { return std::make_unique<NewIncarnation>(); }

}  // namespace tenure::app
