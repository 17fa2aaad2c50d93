#include "app/cli/command.hpp"
#include "app/cli/settings_flags.hpp"
#include "app/cli/usage_error.hpp"
#include "app/store_commands.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
    R"(`tenure serve` does the same at start unless store.migrate is `check`. Migrations only go
forward, run under a lock and are checked against what was applied before.

Examples:
  tenure migrate --store postgres://owner@db.internal/tenure --dry-run
  tenure migrate --store postgres://owner@db.internal/tenure --print > for-the-dba.sql
)";

class Migrate final : public Command {
 public:
  std::string_view words() const override { return "migrate"; }
  std::string_view summary() const override { return "Bring the store's schema up to date"; }
  std::string notes() const override { return std::string(kNotes); }

  void Declare(Flags& flags) override {
    flags.Add(Flags::Switch{"--dry-run", "Say what would be done, and do nothing.", &dry_run_});
    flags.Add(Flags::Switch{"--print", "Print the SQL that is due, and do nothing.", &print_});
    settings_.Declare(flags);
  }

  int Run(Console&) override {
    if (dry_run_ && print_) throw UsageError("give one of --dry-run and --print");
    const MigrateMode mode = dry_run_ ? MigrateMode::kDryRun
                             : print_ ? MigrateMode::kPrint
                                      : MigrateMode::kApply;
    return RunMigrate(config::Load(settings_.Sources()).settings, mode);
  }

 private:
  bool dry_run_ = false;
  bool print_ = false;
  SettingsFlags settings_;
};

}  // namespace

std::unique_ptr<Command> MakeMigrate() { return std::make_unique<Migrate>(); }

}  // namespace tenure::app
