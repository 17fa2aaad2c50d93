#include "app/cli/commands.hpp"
#include "app/cli/settings_flags.hpp"
#include "app/serve.hpp"
#include "app/store_setup.hpp"
#include "cli/flags.hpp"
#include "config/reference.hpp"

namespace tenure::app {
namespace {

using cli::Given;

constexpr std::string_view kServeNotes =
    R"(Without flags it serves on loopback, with an embedded store in ./tenure-data. With --store any
number of identical processes share one PostgreSQL database. SIGTERM lets requests finish and
ends; SIGHUP reads the configuration file again.

Examples:
  tenure serve --listen 127.0.0.1:9000 --data /var/lib/tenure
  tenure serve --store postgres://tenure@db.internal/tenure --set log.level=debug
  TENURE_STORE_PASSWORD_FILE=/run/secrets/db tenure serve --config /etc/tenure.yaml

Settings: in the file as `sessions: {duration: 30d}`, in the environment as
TENURE_SESSIONS_DURATION, here as --set sessions.duration=30d. More: `tenure config reference`.

)";

constexpr std::string_view kMigrateNotes =
    R"(`tenure serve` does the same at start unless store.migrate is `check`. Migrations only go
forward, run under a lock and are checked against what was applied before.

On PostgreSQL the role tenure_app, where it exists, is given the SQL functions that are made for
users' own transactions (tenure.enqueue, tenure.check_fence …), each time; --grant gives them to a
role of yours. Such a role can read and change no table.

Examples:
  tenure migrate --store postgres://owner@db.internal/tenure --dry-run
  tenure migrate --store postgres://owner@db.internal/tenure --print > for-the-dba.sql
  tenure migrate --store postgres://owner@db.internal/tenure --grant shop
)";

constexpr std::string_view kIncarnationNotes =
    R"(A database that was restored from a backup, or a standby that was promoted without synchronous
replication, has forgotten commits that were answered. Tenure notices most such cases by itself;
this is for the ones that it cannot see. New fences then start above all that were ever given
out, and for a while (`store.freeze`) nothing is granted that somebody may still hold; `tenure
admin thaw` ends that early.

Example:
  tenure admin new-incarnation --store postgres://tenure@db.internal/tenure
)";

constexpr std::string_view kThawNotes =
    R"(After a new incarnation a name is renewed and not granted for `store.freeze`, or for as long as
it was ever granted: somebody whom the store has forgotten may still hold it. Where you know that
nobody does (all holders were stopped, nothing was lost) this ends it at once. It is recorded in
the audit.

Example:
  tenure admin thaw --store postgres://tenure@db.internal/tenure
)";

int Serve(const Given& given, cli::Console&) {
  const config::Sources sources = SourcesOf(given);
  return RunServe(config::Load(sources), sources);
}

int Migrate(const Given& given, cli::Console&) {
  const bool dry_run = given.Has("--dry-run");
  const bool print = given.Has("--print");
  const bool grant = given.Has("--grant");
  if (dry_run + print + grant > 1)
    throw cli::UsageError("give one of --dry-run, --print and --grant");
  const config::Settings settings = config::Load(SourcesOf(given)).settings;
  if (grant && settings.store.url.empty())
    throw cli::UsageError("--grant is for PostgreSQL (--store): the embedded store has no roles");
  const MigrateMode mode = dry_run ? MigrateMode::kDryRun
                           : print ? MigrateMode::kPrint
                                   : MigrateMode::kApply;
  return RunMigrate(settings, mode, given.Or("--grant", ""));
}

int NewIncarnation(const Given& given, cli::Console&) {
  return RunNewIncarnation(config::Load(SourcesOf(given)).settings);
}

int Thaw(const Given& given, cli::Console&) {
  return RunThaw(config::Load(SourcesOf(given)).settings);
}

}  // namespace

cli::Commands StoreCommands() {
  using namespace cli;  // the words of its tables
  return {{.words = "serve",
           .summary = "Serve the HTTP API on the embedded store or on PostgreSQL",
           .notes = std::string(kServeNotes) + config::SettingsHelp(),
           .flags = SettingsFlags(),
           .run = Serve,
           .part = Part::kRun},
          {.words = "migrate",
           .summary = "Bring the store's schema up to date",
           .notes = std::string(kMigrateNotes),
           .flags = Flags{Switch("--dry-run", "Say what would be done, and do nothing."),
                          Switch("--print", "Print the SQL that is due, and do nothing."),
                          Value("--grant", "ROLE",
                                "Let transactions of this role call Tenure's SQL functions.")} +
                    StoreFlags(),
           .run = Migrate,
           .part = Part::kRun},
          {.words = "admin new-incarnation",
           .summary = "Tell the store that it may have forgotten commits",
           .notes = std::string(kIncarnationNotes),
           .flags = StoreFlags(),
           .run = NewIncarnation,
           .part = Part::kLookAfter},
          {.words = "admin thaw",
           .summary = "Let names be granted again after a new incarnation",
           .notes = std::string(kThawNotes),
           .flags = StoreFlags(),
           .run = Thaw,
           .part = Part::kLookAfter}};
}

}  // namespace tenure::app
