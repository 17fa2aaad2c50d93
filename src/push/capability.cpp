#include "push/capability.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/log.hpp"
#include "leases/leases.hpp"
#include "messages/messages.hpp"
#include "push/deliverer.hpp"
#include "push/routes.hpp"
#include "push_sql/queries.hpp"

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

struct Process {
  Process(const server::Parts& parts, const server::Others& others)
      : off(WhyOff(parts.settings)),
        vault(VaultOf(parts.settings.secrets)),
        probe(parts.metrics),
        subscriptions(parts.store, parts.wake, vault ? &*vault : nullptr) {
    if (!off.empty()) return;
    courier.emplace(Courier::Options{.allowed = parts.settings.push.allow,
                                     .ca_file = parts.settings.push.ca_file},
                    parts.tracer, parts.clock);
    if (!parts.settings.workers) return;
    deliverer.emplace(Deliverer::Parts{
        .subscriptions = subscriptions,
        .messages = others.Of<messages::Messages>(),
        .leases = others.Of<leases::Leases>(),
        .wake = parts.wake,
        .clock = parts.clock,
        .probe = probe,
        .vault = *vault,
        .process = parts.process,
        .deliver =
            [this](const Endpoint& endpoint, const messages::ClaimedMessage& message,
                   std::function<bool()> may_begin, Courier::Done done) {
              courier->Deliver(endpoint, message, std::move(may_begin), std::move(done));
            },
        .give_up = [this](std::uint64_t group) { courier->GiveUp(group); }});
  }

  const std::string off;  ///< empty: push is on
  const std::optional<Vault> vault;
  Probe probe;
  Subscriptions subscriptions;
  std::optional<Courier> courier;
  std::optional<Deliverer> deliverer;  ///< nothing: push is off, or others deliver
};

void WriteHealth(base::JsonWriter& json, const Process& process) {
  const Figures figures = process.probe.figures();
  json.Key("push").BeginObject();
  json.Field("delivers", process.deliverer ? "on" : "off")
      .Field("subscriptions", figures.subscriptions)
      .Field("disabled", figures.disabled)
      .Field("backing_off", figures.backing_off)
      .Field("open", figures.open)
      .Field("held", process.probe.delivering())
      .Field("in_flight", process.probe.in_flight());
  json.EndObject();
}

server::Running Run(const server::Parts& parts, const server::Others& others) {
  const auto process = std::make_shared<Process>(parts, others);
  Process& self = *process;
  server::Running running;
  running.object = {process, &self.subscriptions};
  running.type = typeid(Subscriptions);
  running.add_routes = [&self](http::Router& router) {
    AddRoutes(router, {self.subscriptions, self.vault ? &*self.vault : nullptr,
                       self.courier ? &*self.courier : nullptr, self.off});
  };
  running.jobs = {{"gauges.push", server::kOftenMs, [&self](const auto&) {
                     self.probe.Counted(server::Await(self.subscriptions.Count));
                   }}};
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

}  // namespace

server::Capability Capability() {
  return {.name = "push",
          .needs = {"leases", "messages"},
          .queries = sql::All(),
          .rate = &config::RateLimitSettings::push,
          .commands = Commands,
          .run = Run};
}

}  // namespace tenure::push
