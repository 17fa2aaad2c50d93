#include "app/cli/command.hpp"
#include "app/cli/settings_flags.hpp"
#include "app/serve.hpp"
#include "config/reference.hpp"

namespace tenure::app {
namespace {

constexpr std::string_view kNotes =
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

class Serve final : public Command {
 public:
  std::string_view words() const override { return "serve"; }
  std::string_view summary() const override {
    return "Serve the HTTP API on the embedded store or on PostgreSQL";
  }
  std::string notes() const override { return std::string(kNotes) + config::SettingsHelp(); }
  void Declare(Flags& flags) override { settings_.Declare(flags); }

  int Run(Console&) override {
    const config::Sources sources = settings_.Sources();
    return RunServe(config::Load(sources).settings, sources);
  }

 private:
  SettingsFlags settings_;
};

}  // namespace

std::unique_ptr<Command> MakeServe() { return std::make_unique<Serve>(); }

}  // namespace tenure::app
