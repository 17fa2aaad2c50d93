#include "config/coherence.hpp"

#include <array>
#include <cstdint>

#include <fmt/format.h>

#include "config/redact.hpp"

namespace tenure::config {
namespace {

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

constexpr std::array<Order, 4> kOrders{{
    {"lanes.batch_items", "lanes.queue_items",
     [](const Settings& s) { return s.lanes.batch_items <= s.lanes.queue_items; },
     "a batch is taken from the queue"},
    {"lanes.batch_bytes", "lanes.queue_bytes",
     [](const Settings& s) { return s.lanes.batch_bytes <= s.lanes.queue_bytes; },
     "a batch is taken from the queue"},
    {"http.max_body", "lanes.queue_bytes",
     [](const Settings& s) { return s.http.max_body_bytes <= s.lanes.queue_bytes; },
     "the largest request could never be queued"},
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
  if (!settings.http.trusted_proxies.empty() && !settings.auth.enabled())
    problems.push_back({WhereOf(loaded, {"http.trusted_proxies"}),
                        "http.trusted_proxies has no use without authentication: what came through "
                        "a proxy is refused then"});
}

}  // namespace

void MakeCoherent(Loaded& loaded, Problems& problems) {
  CheckOrders(loaded, problems);
  CheckTls(loaded, problems);
  CheckAuthentication(loaded, problems);
  CheckListeners(loaded, problems);
  InsertPassword(loaded, problems);
}

}  // namespace tenure::config
