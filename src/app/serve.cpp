#include "app/serve.hpp"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "app/descriptors.hpp"
#include "app/service.hpp"
#include "base/error.hpp"
#include "base/host.hpp"
#include "base/log.hpp"
#include "config/load.hpp"
#include "push/places.hpp"

namespace tenure::app {
namespace {

void SetUpLog(const config::LogSettings& log, const std::string& instance) {
  const bool text = log.format == config::LogStyle::kText ||
                    (log.format == config::LogStyle::kAuto && isatty(STDERR_FILENO) == 1);
  base::ConfigureLog(log.level, text ? base::LogFormat::kText : base::LogFormat::kJson, instance);
}

/// The signals that this process waits for; blocked here, before any thread exists, so that every
/// thread inherits the mask and only `WaitForSignal` receives them.
sigset_t BlockSignals() {
  sigset_t waited;
  sigemptyset(&waited);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&waited, number);
  pthread_sigmask(SIG_BLOCK, &waited, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return waited;
}

int WaitForSignal(const sigset_t& waited) {
  int number = 0;
  while (sigwait(&waited, &number) != 0) {
  }
  return number;
}

void PrintPlaces(const Service& service) {
  fmt::print("Tenure {} listens on {}\n", TENURE_VERSION, service.Url());
  if (const std::string url = service.OpsUrl(); !url.empty())
    fmt::print("Health and metrics are also on {}, without a token\n", url);
  if (const std::string url = service.WebhooksUrl(); !url.empty())
    fmt::print("Webhooks are also taken on {}, and nothing else\n", url);
  fmt::print("Its data is in {}. Stop it with Ctrl-C: nothing that was answered is lost.\n\n",
             service.StorePlace());
}

/// As a word of a shell's command line.
std::string ShellWord(const std::string& text) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-+@%").find(c) != std::string_view::npos;
  };
  if (std::ranges::all_of(text, is_plain)) return text;
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

/// How this program is called from the shell that started it: `tenure` where the PATH leads here,
/// else as it was called.
std::string OwnName() {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto found = std::filesystem::path(folder) / "tenure";
    if (access(found.c_str(), X_OK) != 0) continue;
    std::error_code error;
    if (std::filesystem::equivalent(found, "/proc/self/exe", error)) return "tenure";
    break;  // another one: the shell would take it
  }
  return ShellWord(program_invocation_name);
}

/// What to type first, as it can be pasted. With authentication every command needs a token first.
void PrintSuggestions(const Service& service) {
  const std::string tenure = OwnName();
  const std::string url = service.Url();
  const std::string server = url == "http://127.0.0.1:8080" ? "" : " --server " + url;
  if (service.authenticates()) {
    fmt::print(
        "Requests need a token of the issuer that is configured; commands take it from a file or "
        "from TENURE_TOKEN.\n"
        "Without an issuer, `tenure token keygen` and `tenure token issue` make a key and tokens "
        "(docs/security.md).\n\n"
        "Try:\n"
        "  {0} token inspect --token-file TOKEN\n"
        "  {0} lease list --token-file TOKEN{1}\n"
        "  curl {2}/readyz\n\n",
        tenure, server, url);
    return;
  }
  fmt::print(
      "Try:\n"
      "  {0} session put --user 6f9619ff-8b86-4011-b42d-00c04fc964ff "
      "--tenant 11111111-1111-4111-8111-111111111111 "
      "--capacity 22222222-2222-4222-8222-222222222222 --kind standard{1}\n"
      "  {0} session list{1}\n"
      "  curl {2}/health\n\n",
      tenure, server, url);
}

void PrintWelcome(const Service& service) {
  PrintPlaces(service);
  PrintSuggestions(service);
  fflush(stdout);
}

/// Keys and certificates can change while running; whether tokens are asked for at all, and whether
/// TLS is spoken, cannot.
bool NeedsRestart(const config::Change& change, const Service& service,
                  const config::Settings& loaded) {
  const std::string_view name = change.setting->name;
  const bool keys = name.starts_with("auth.") && !service.authenticates();
  const bool certificate =
      name.starts_with("tls.") && !(service.encrypts() && loaded.tls.enabled());
  return change.NeedsRestart() || keys || certificate;
}

/// SIGHUP: the same sources again. What cannot change while running is named and left as it is.
void Reload(const config::Sources& sources, config::Settings& current, Service& service) {
  try {
    const config::Loaded all = config::Load(sources);
    const config::Settings& loaded = all.settings;
    for (const config::Change& change : config::Differences(current, loaded)) {
      if (NeedsRestart(change, service, loaded))
        base::LogWarn(
            "config.needs_restart", "a changed setting takes effect at the next start",
            {{"setting", change.setting->name}, {"now", change.from}, {"then", change.to}});
      else
        base::LogInfo(
            "config.changed", "a setting was changed",
            {{"setting", change.setting->name}, {"from", change.from}, {"to", change.to}});
    }
    if (loaded.file_jobs != current.file_jobs)
      base::LogWarn("config.needs_restart",
                    "the jobs of the file are others: apply it (tenure config apply), or restart");
    current.log.level = loaded.log.level;
    base::SetLogLevel(loaded.log.level);
    current.rate_limits = loaded.rate_limits;
    service.UseRateLimits(current.rate_limits);
    service.ReadAgain();
    if (service.encrypts() && loaded.tls.enabled()) {
      current.tls = loaded.tls;
      service.UseCertificate(current.tls);
    }
    if (service.authenticates()) {
      current.auth.keys = loaded.auth.keys;
      current.auth.secret = loaded.auth.secret;
      service.UseKeys(current.auth);
    }
    service.ShowSettings({current, all.origins});
  } catch (const std::exception& error) {
    base::LogError("config.refused", "the configuration was not reloaded",
                   {{"detail", error.what()}});
  }
}

}  // namespace

int RunServe(const config::Loaded& loaded, const config::Sources& sources) {
  const config::Settings& settings = loaded.settings;
  const std::string instance = base::NewProcessName();
  SetUpLog(settings.log, instance);
  const sigset_t waited = BlockSignals();
  RaiseDescriptorLimit(settings.http.max_connections +
                       (settings.push.allow.empty() ? 0 : push::kMostUnderWay));
  CheckWithCapabilities(settings);
  CheckDoors(settings, false);
  Service service(settings, instance);
  service.ShowSettings(loaded);
  service.Start();
  PrintWelcome(service);

  config::Settings current = settings;
  int number = 0;
  while ((number = WaitForSignal(waited)) == SIGHUP) Reload(sources, current, service);

  base::LogInfo("serve.stopping", "finishing what is under way", {{"signal", number}});
  // A second signal ends the process at once: whoever sends it does not want to wait.
  pthread_sigmask(SIG_UNBLOCK, &waited, nullptr);
  service.Stop();
  base::LogInfo("serve.stopped", "stopped");
  return 0;
}

}  // namespace tenure::app
