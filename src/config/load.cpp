#include "config/load.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/read_file.hpp"
#include "config/file.hpp"
#include "config/printable.hpp"
#include "config/secret.hpp"

namespace tenure::config {
namespace {

constexpr std::size_t kMaxSecretFileBytes = 64 * 1024;

std::string Where(const Flag& flag) {
  return flag.spelling == "--set" ? "--set " + Printable(flag.name) : flag.spelling;
}

std::string UnknownName(const std::string& name) {
  std::vector<std::string> names;
  for (const Setting& setting : Table())
    names.push_back(std::string(setting.name) + (IsSecret(setting.kind) ? "_file" : ""));
  const std::optional<std::string> near = Nearest(name, names);
  return "there is no setting of that name" +
         (near ? fmt::format("; did you mean {}?", *near) : "");
}

std::vector<Given> FromFlags(const std::vector<Flag>& flags, Problems& problems) {
  std::vector<Given> given;
  for (const Flag& flag : flags) {
    const Addressed to = FindAddressed(flag.name);
    if (!to.setting)
      problems.push_back({Where(flag), UnknownName(flag.name)});
    else if (IsSecret(to.setting->kind) && !to.by_file)
      problems.push_back({Where(flag), fmt::format("others can read a command line: give {0}_file, "
                                                   "or set {1}",
                                                   flag.name, EnvironmentName(flag.name))});
    else if (std::holds_alternative<PostgresUrl>(to.setting->kind) && HasPassword(flag.value))
      problems.push_back(
          {Where(flag), fmt::format("others can read a command line: leave the password out of it, "
                                    "and give store.password_file or set {}",
                                    EnvironmentName("store.password"))});
    else if (std::holds_alternative<RedisUrl>(to.setting->kind) && HasPassword(flag.value))
      problems.push_back(
          {Where(flag), fmt::format("others can read a command line: name a file with the password "
                                    "(?password_file=PATH), or set {}",
                                    EnvironmentName(flag.name))});
    else
      given.push_back({to.setting, to.by_file, flag.value, {Source::kFlag, Where(flag)}});
  }
  return given;
}

/// The value itself: of a secret that is given by file, what stands in that file without the line
/// break at its end.
std::string Content(const Given& given) {
  if (!given.by_file) return given.value;
  std::string content;
  try {
    content = base::ReadWholeFile(given.value, kMaxSecretFileBytes);
  } catch (const base::UserError& error) {
    throw base::UserError(fmt::format("{} {}", Quoted(given.value), error.what()));
  }
  if (content.ends_with('\n')) content.pop_back();
  if (content.ends_with('\r')) content.pop_back();
  return content;
}

/// Applies one source's values over what stands already. Within one source a setting has one value.
void Apply(const std::vector<Given>& values, Loaded& loaded, Problems& problems) {
  std::set<std::string_view> seen;
  for (const Given& given : values) {
    const std::string_view name = given.setting->name;
    if (!seen.insert(name).second) {
      problems.push_back({given.origin.where, fmt::format("{} is given twice, first by {}", name,
                                                          loaded.origins[name].where)});
      continue;
    }
    try {
      if (auto refused = Assign(given.setting->kind, Content(given), loaded.settings))
        problems.push_back(
            {given.origin.where, fmt::format("{}: {}", name, *refused), given.origin.line});
    } catch (const base::UserError& error) {
      problems.push_back(
          {given.origin.where, fmt::format("{}: {}", name, error.what()), given.origin.line});
    }
    loaded.origins[name] = given.origin;
  }
}

/// Where somebody would look for what made the settings `names` clash: the first that is no
/// default.
std::string WhereOf(const Loaded& loaded, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const Origin origin = loaded.OriginOf(*FindSetting(name));
    if (origin.source != Source::kDefault) return origin.where;
  }
  return "default";
}

std::string Shown(const Loaded& loaded, std::string_view name) {
  return fmt::format("{} ({})", name, ValueText(FindSetting(name)->kind, loaded.settings));
}

/// A pair of settings of which the first must not exceed the second.
struct Order {
  std::string_view smaller;
  std::string_view larger;
  bool (*holds)(const Settings&);
  std::string_view why;
};

constexpr std::array<Order, 5> kOrders{{
    {"lanes.batch_items", "lanes.queue_items",
     [](const Settings& s) { return s.lanes.batch_items <= s.lanes.queue_items; },
     "a batch is taken from the queue"},
    {"lanes.batch_bytes", "lanes.queue_bytes",
     [](const Settings& s) { return s.lanes.batch_bytes <= s.lanes.queue_bytes; },
     "a batch is taken from the queue"},
    {"http.max_body", "lanes.queue_bytes",
     [](const Settings& s) { return s.http.max_body_bytes <= s.lanes.queue_bytes; },
     "the largest request could never be queued"},
    {"http.max_body", "http.body_memory",
     [](const Settings& s) { return s.http.max_body_bytes <= s.http.body_memory_bytes; },
     "the largest request could never be read"},
    {"store.lock_timeout", "store.statement_timeout",
     [](const Settings& s) { return s.store.lock_timeout_ms <= s.store.statement_timeout_ms; },
     "the wait for a lock is part of its statement"},
}};

void CheckOrders(const Loaded& loaded, Problems& problems) {
  for (const Order& order : kOrders)
    if (!order.holds(loaded.settings))
      problems.push_back({WhereOf(loaded, {order.smaller, order.larger}),
                          fmt::format("{} must not exceed {}: {}", Shown(loaded, order.smaller),
                                      Shown(loaded, order.larger), order.why)});
}

void InsertPassword(Loaded& loaded, Problems& problems) {
  StoreSettings& store = loaded.settings.store;
  if (store.password.empty()) return;
  const std::string where = WhereOf(loaded, {"store.password"});
  if (store.url.empty())
    problems.push_back({where, "store.password has no use without store.url"});
  else if (HasPassword(store.url))
    problems.push_back({where, "store.url has a password already: give one of the two"});
  else
    store.url = WithPassword(store.url, store.password);
  if (!store.listen.empty() && !HasPassword(store.listen))
    store.listen = WithPassword(store.listen, store.password);
}

/// Half an authentication would be none, or would let tokens of others in.
void CheckAuthentication(const Loaded& loaded, Problems& problems) {
  const AuthSettings& auth = loaded.settings.auth;
  const std::string where = WhereOf(
      loaded, {"auth.keys", "auth.secret", "auth.jwks_url", "auth.issuer", "auth.audience"});
  const bool named = !auth.issuer.empty() && !auth.audience.empty();
  if (auth.enabled() && !named)
    problems.push_back({where,
                        "authentication needs auth.issuer and auth.audience: without them the "
                        "tokens of any other service would do"});
  if (!auth.enabled() && !(auth.issuer.empty() && auth.audience.empty()))
    problems.push_back({where,
                        "auth.issuer and auth.audience have no use without keys: give auth.keys, "
                        "auth.secret_file or auth.jwks_url"});
}

void CheckTls(const Loaded& loaded, Problems& problems) {
  const TlsSettings& tls = loaded.settings.tls;
  if (tls.certificate.empty() == tls.key.empty()) return;
  problems.push_back({WhereOf(loaded, {"tls.certificate", "tls.key"}),
                      "tls.certificate and tls.key have no use without each other: give both, or "
                      "neither for plain HTTP"});
}

void CheckListeners(const Loaded& loaded, Problems& problems) {
  const Settings& settings = loaded.settings;
  if (settings.ops.listen == settings.listen && settings.listen.port != 0)
    problems.push_back({WhereOf(loaded, {"ops.listen", "listen"}),
                        fmt::format("{} must not be {}: it serves without a token",
                                    Shown(loaded, "ops.listen"), Shown(loaded, "listen"))});
  const Address& webhooks = settings.webhooks.listen;
  for (const auto& [name, other] :
       {std::pair("listen", settings.listen), std::pair("ops.listen", settings.ops.listen)})
    if (webhooks == other && webhooks.port != 0)
      problems.push_back({WhereOf(loaded, {"webhooks.listen", name}),
                          fmt::format("{} must not be {}: it serves webhooks and nothing else",
                                      Shown(loaded, "webhooks.listen"), Shown(loaded, name))});
  if (!settings.http.trusted_proxies.empty() && !settings.auth.enabled() && webhooks.host.empty())
    problems.push_back({WhereOf(loaded, {"http.trusted_proxies"}),
                        "http.trusted_proxies has no use without authentication: what came through "
                        "a proxy is refused then"});
}

/// It stands in URLs as it is written.
void CheckBasePath(const Loaded& loaded, Problems& problems) {
  const std::string& path = loaded.settings.http.base_path;
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  const bool fits = path.starts_with('/') && !path.ends_with('/') &&
                    path.find_first_not_of(kPlain) == std::string::npos &&
                    path.find("//") == std::string::npos && path.find("/.") == std::string::npos;
  if (path.empty() || fits) return;
  problems.push_back({WhereOf(loaded, {"http.base_path"}),
                      fmt::format("{} must begin with a slash, end without one, and be made of "
                                  "letters, digits and - . _ ~ /",
                                  Shown(loaded, "http.base_path"))});
}

/// Settles what single settings cannot: refuses values that are right by themselves but not
/// together, and puts `store.password` into the addresses that need it.
void MakeCoherent(Loaded& loaded, Problems& problems) {
  CheckOrders(loaded, problems);
  CheckTls(loaded, problems);
  CheckAuthentication(loaded, problems);
  CheckListeners(loaded, problems);
  CheckBasePath(loaded, problems);
  InsertPassword(loaded, problems);
}

}  // namespace

Origin Loaded::OriginOf(const Setting& setting) const {
  const auto found = origins.find(setting.name);
  return found == origins.end() ? Origin{} : found->second;
}

Loaded Load(const Sources& sources) {
  Loaded loaded;
  Problems problems;
  if (sources.file)
    Apply(FromFile(*sources.file, problems, loaded.settings.file_jobs), loaded, problems);
  std::ranges::stable_sort(problems, {}, &Problem::line);  // as somebody goes through the file
  Apply(FromEnvironment(sources.environment, problems), loaded, problems);
  Apply(FromFlags(sources.flags, problems), loaded, problems);
  // Follow-up complaints about a value that was refused already would only confuse.
  if (problems.empty()) MakeCoherent(loaded, problems);
  if (!problems.empty()) throw SettingsError(std::move(problems));
  return loaded;
}

std::optional<std::string> ChooseFile(const std::optional<std::string>& flag,
                                      const Environment& environment) {
  if (flag) return flag;
  if (auto variable = FindVariable(environment, "TENURE_CONFIG")) return variable;
  std::error_code ignored;
  if (std::filesystem::exists("tenure.yaml", ignored)) return "tenure.yaml";
  return std::nullopt;
}

std::vector<Change> Differences(const Settings& before, const Settings& after) {
  std::vector<Change> changes;
  for (const Setting& setting : Table())
    if (!SameValue(setting.kind, before, after))
      changes.push_back(
          {&setting, ValueText(setting.kind, before), ValueText(setting.kind, after)});
  return changes;
}

std::vector<NamedValue> SharedValues(const Settings& settings) {
  std::vector<NamedValue> values;
  for (const Setting& setting : Table())
    if (setting.more.scope == Scope::kEnsemble)
      values.push_back({setting.name, ValueText(setting.kind, settings)});
  return values;
}

}  // namespace tenure::config
