#include "push/capability.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/log.hpp"
#include "explain/naming.hpp"
#include "leases/leases.hpp"
#include "messages/messages.hpp"
#include "push/deliverer.hpp"
#include "push/routes.hpp"
#include "push_sql/queries.hpp"
#include "queues/queues.hpp"

namespace tenure::push {
namespace {

std::optional<Vault> VaultOf(const config::SecretSettings& settings) {
  if (settings.key_file.empty()) return std::nullopt;
  try {
    return Vault::Load(settings.key_file);
  } catch (const base::UserError& error) {
    throw base::UserError(fmt::format("secrets.key_file: {}: {}", settings.key_file, error.what()));
  }
}

/// Why push is off; empty: it is on.
std::string WhyOff(const config::Settings& settings) {
  if (settings.push.allow.empty())
    return "Set push.allow to the hosts that subscriptions may name; while it is empty, push is "
           "off.";
  if (settings.secrets.key_file.empty())
    return "Set secrets.key_file, with whose keys the secrets of subscriptions are encrypted; "
           "without it push is off.";
  return "";
}

/// What the limit of open files has room for behind the server's own clients.
std::int64_t MostUnderWay(const config::Settings& settings) {
  constexpr std::int64_t kReserved = 256;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kLeastUnderWay;
  const auto files = static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, 1 << 30));
  const std::int64_t room = files - settings.http.max_connections - kReserved;
  return std::clamp<std::int64_t>(room, kLeastUnderWay, kMostUnderWay);
}

struct Process {
  Process(const server::Parts& parts, const server::Others& others)
      : off(WhyOff(parts.settings)),
        vault(VaultOf(parts.settings.secrets)),
        probe(parts.metrics),
        subscriptions(parts.store, parts.wake, vault ? &*vault : nullptr) {
    if (!off.empty()) return;
    const std::int64_t most = MostUnderWay(parts.settings);
    courier.emplace(Courier::Options{.allowed = parts.settings.push.allow,
                                     .in_flight_max = static_cast<std::size_t>(most),
                                     .ca_file = parts.settings.push.ca_file},
                    parts.tracer, parts.clock);
    if (!parts.settings.workers) return;
    deliverer.emplace(Deliverer::Parts{
        .subscriptions = subscriptions,
        .messages = others.Of<messages::Messages>(),
        .queues = others.Of<queues::Queues>(),
        .leases = others.Of<leases::Leases>(),
        .wake = parts.wake,
        .clock = parts.clock,
        .probe = probe,
        .vault = *vault,
        .process = parts.process,
        .deliver =
            [this](const Endpoint& endpoint, const Parcel& message, std::function<bool()> may_begin,
                   Courier::Done done) {
              courier->Deliver(endpoint, message, std::move(may_begin), std::move(done));
            },
        .give_up = [this](std::uint64_t group) { courier->GiveUp(group); },
        .most_under_way = most});
  }

  const std::string off;  ///< empty: push is on
  const std::optional<Vault> vault;
  Probe probe;
  Subscriptions subscriptions;
  std::optional<Courier> courier;
  std::optional<Deliverer> deliverer;  ///< nothing: push is off, or others deliver
};

/// Seals by the first key what others sealed. What cannot be opened here waits for a process that can.
void SealAnew(Process& self) {
  SealedRequest request{.prefix = self.vault->Prefix()};
  std::int64_t left = 0;
  std::int64_t sealed = 0;
  for (bool more = true; more;) {
    const auto page = server::Await(self.subscriptions.ListSealed, request);
    for (const SubscriptionKey& key : page.rows) {
      const Outcome outcome = server::Await(self.subscriptions.Change, ResealCommand{key});
      ++(outcome.kind == ChangeKind::kSealed ? left : sealed);
    }
    more = page.has_more;
    if (!page.rows.empty()) request.after = page.rows.back();
  }
  self.probe.Sealed(left);
  if (sealed > 0)
    base::LogInfo("push.sealed_anew", "subscriptions were sealed anew by the first key",
                  {{"subscriptions", sealed}});
}

void WriteHealth(base::JsonWriter& json, const Process& process) {
  const Figures figures = process.probe.figures();
  json.Key("push").BeginObject();
  json.Field("delivers", process.deliverer ? "on" : "off")
      .Field("subscriptions", figures.subscriptions)
      .Field("disabled", figures.disabled)
      .Field("backing_off", figures.backing_off)
      .Field("open", figures.open)
      .Field("held", process.probe.delivering())
      .Field("in_flight", process.probe.in_flight())
      .Field("of_old_keys", process.probe.sealed());
  json.EndObject();
}

explain::Glance GlanceOf(const Figures& figures) {
  explain::Glance glance{.figures = {{"subscriptions", figures.subscriptions},
                                     {"open", figures.open},
                                     {"disabled", figures.disabled}}};
  explain::Naming naming;
  for (const SubscriptionKey& key : figures.open_ones)
    if (naming.Takes(key.tenant))
      glance.concerns.push_back(
          {.name = "TenurePushCircuitOpen",
           .tenant = key.tenant,
           .sentence = fmt::format("The endpoint of {} has not answered for long: only a probe is "
                                   "sent now and then.",
                                   key.name),
           .link = "/subscriptions/" + key.name,
           .command = "tenure why subscription " + key.name,
           .others = "endpoints that have not answered for long"});
  return glance;
}

void FindNames(Subscriptions& subscriptions, const server::Search& search, base::Caller caller,
               server::Finder::Done done) {
  if (!search.MayBegin() || !IsSubscriptionName(search.text)) return done(server::FoundList());
  subscriptions.List(
      {.tenant = search.tenant,
       .after = server::JustBefore(search.text),
       .limit = server::kMostFound},
      std::move(caller),
      server::Finding(std::move(done), [text = search.text](const db::Page<Subscription>& page) {
        server::FoundList found;
        for (const Subscription& row : page.rows)
          if (row.name.starts_with(text))
            found.push_back(
                {"subscription", row.name, row.topic, std::string(StateText(row, page.now_ms))});
        return found;
      }));
}

server::Running Run(const server::Parts& parts, const server::Others& others) {
  const auto process = std::make_shared<Process>(parts, others);
  Process& self = *process;
  server::Running running;
  running.object = {process, &self.subscriptions};
  running.type = typeid(Subscriptions);
  audit::Audit& audit = others.Of<audit::Audit>();
  running.add_routes = [&self, &audit,
                        &queues = others.Of<queues::Queues>()](http::Router& router) {
    AddRoutes(router, {self.subscriptions, queues, self.vault ? &*self.vault : nullptr,
                       self.courier ? &*self.courier : nullptr, self.off, audit});
  };
  const auto latest = std::make_shared<explain::Latest>();
  running.jobs = {{"gauges.push", server::kOftenMs, [&self, latest](const auto&) {
                     const Figures figures = server::Await(self.subscriptions.Count);
                     self.probe.Counted(figures);
                     latest->Set(GlanceOf(figures));
                   }}};
  running.finders = {
      {"subscriptions:read", std::bind_front(FindNames, std::ref(self.subscriptions))}};
  running.glance = [latest] { return latest->Get(); };
  if (self.vault)
    running.jobs.push_back(
        {"push.seal", server::kCountIntervalMs, [&self](const auto&) { SealAnew(self); }});
  running.write_health = [&self](base::JsonWriter& json) { WriteHealth(json, self); };
  if (!self.courier) return running;
  running.start = [&self] {
    self.courier->Start();
    if (self.deliverer) self.deliverer->Start();
  };
  running.stop_waiting = [&self] {
    if (self.deliverer) self.deliverer->Stop();
    self.courier->Stop();
  };
  return running;
}

/// A file of keys that cannot be read is said before the store is touched. Throws base::UserError.
void Check(const config::Settings& settings, config::Problems&) { VaultOf(settings.secrets); }

}  // namespace

server::Capability Capability() {
  return {.name = "push",
          .needs = {"leases", "messages", "queues"},
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::push,
          .commands = Commands,
          .run = Run,
          .check = Check};
}

}  // namespace tenure::push
