#include "push/deliverer.hpp"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "base/log.hpp"

namespace tenure::push {
namespace {

/// A lease is believed to be ours for so much of its ttl (L3).
constexpr std::int64_t kTrustPercent = 90;
constexpr std::int64_t kStopMs = 2'000;
constexpr std::int64_t kStopStepMs = 20;

std::int64_t TrustedUntil(std::int64_t asked_boot_ms) {
  return asked_boot_ms + Deliverer::kTtlMs * kTrustPercent / 100;
}

DeliveryParts DeliveryPartsOf(const Deliverer::Parts& parts,
                              std::function<void(const Endpoint&)> disable, Places& places) {
  return {parts.messages, parts.queues,  parts.wake,         parts.clock,   parts.probe,
          parts.deliver,  parts.give_up, std::move(disable), parts.process, places};
}

}  // namespace

Deliverer::Deliverer(Parts parts)
    : parts_(std::move(parts)),
      places_(parts_.most_under_way),
      delivery_parts_(DeliveryPartsOf(
          parts_, [this](const Endpoint& endpoint) { Disable(endpoint); }, places_)),
      worker_(messages::NewWorker()) {}

void Deliverer::Tick() {
  if (stopping_) return;
  {
    // The next one comes whatever the store does meanwhile.
    const base::Lock lock(mutex_);
    if (next_tick_ != 0) parts_.wake.Cancel(next_tick_);
    next_tick_ = parts_.wake.Wait(kChangedKey, parts_.clock.BootMs() + kTickMs, [this] { Tick(); });
  }
  Beat();
  LetGo();
  Renew();
  ReportAll();
  Look();
}

/// The first one joins; claims wait until it has.
void Deliverer::Beat() {
  const std::int64_t now_ms = parts_.clock.BootMs();
  messages::HeartbeatRequest request;
  {
    const base::Lock lock(mutex_);
    if (is_beating_ || now_ms < next_beat_boot_ms_) return;
    is_beating_ = true;
    request.kind = has_joined_ ? messages::HeartbeatRequest::Kind::kBeat
                               : messages::HeartbeatRequest::Kind::kJoin;
    request.worker = worker_;
    request.owner = parts_.process;
  }
  parts_.messages.Heartbeat(std::move(request), nullptr,
                            [this, now_ms](const db::Result<messages::HeartbeatReply>& result) {
                              bool is_new = false;
                              std::int64_t worker = 0;
                              std::vector<std::shared_ptr<Delivery>> deliveries;
                              {
                                const base::Lock lock(mutex_);
                                is_beating_ = false;
                                if (!result.ok()) return;
                                next_beat_boot_ms_ = now_ms + messages::kHeartbeatMs;
                                is_new = !std::exchange(has_joined_, result.value().alive);
                                if (!result.value().alive) {
                                  // Nothing that was claimed is ours; somebody else may have it already.
                                  worker_ = messages::NewWorker();
                                  next_beat_boot_ms_ = 0;
                                  for (const auto& [key, held] : held_)
                                    if (held.delivery) deliveries.push_back(held.delivery);
                                }
                                worker = worker_;
                              }
                              for (const auto& delivery : deliveries)
                                delivery->ChangeWorker(worker);
                              if (is_new || !deliveries.empty()) Tick();
                            });
}

/// What is over is given back; of what is not held any more nothing goes on.
void Deliverer::LetGo() {
  const std::int64_t now_ms = parts_.clock.BootMs();
  std::vector<std::pair<SubscriptionKey, Held>> gone;
  {
    const base::Lock lock(mutex_);
    for (auto it = held_.begin(); it != held_.end();) {
      const Held& held = it->second;
      const bool is_over = held.is_leaving && (!held.delivery || held.delivery->IsOver());
      const bool is_lost = now_ms >= held.hold.until_boot_ms;
      if (!is_over && !is_lost) {
        ++it;
        continue;
      }
      gone.emplace_back(it->first, std::move(it->second));
      it = held_.erase(it);
    }
    Counted();
  }
  for (auto& [key, held] : gone) {
    if (held.delivery) held.delivery->End(Delivery::Ending::kCutOff);
    Release(key, held.hold);
  }
  ArmLetGo();
}

void Deliverer::ArmLetGo() {
  const base::Lock lock(mutex_);
  if (next_let_go_ != 0) parts_.wake.Cancel(std::exchange(next_let_go_, 0));
  if (held_.empty() || stopping_) return;
  const auto first = std::ranges::min_element(
      held_, {}, [](const auto& each) { return each.second.hold.until_boot_ms; });
  next_let_go_ =
      parts_.wake.Wait("push.hold", first->second.hold.until_boot_ms, [this] { LetGo(); });
}

void Deliverer::Counted() { parts_.probe.Delivering(static_cast<std::int64_t>(held_.size())); }

void Deliverer::Renew() {
  const std::int64_t asked_ms = parts_.clock.BootMs();
  std::vector<SubscriptionKey> keys;
  std::vector<leases::RenewCommand> commands;
  {
    const base::Lock lock(mutex_);
    if (is_renewing_ || asked_ms < next_renewal_boot_ms_ || held_.empty()) return;
    is_renewing_ = true;
    for (const auto& [key, held] : held_) {
      keys.push_back(key);
      commands.push_back({.key = key.LeaseOf(), .fence = held.hold.fence, .term = held.hold.term});
    }
  }
  parts_.leases.Renew(std::move(commands), nullptr,
                      [this, asked_ms, keys = std::move(keys)](
                          const db::Result<std::vector<leases::RenewOutcome>>& result) {
                        std::vector<std::shared_ptr<Delivery>> renewed;
                        std::vector<std::pair<SubscriptionKey, std::int64_t>> lost;
                        {
                          const base::Lock lock(mutex_);
                          is_renewing_ = false;
                          if (!result.ok()) return;
                          next_renewal_boot_ms_ = asked_ms + kRenewMs;
                          for (std::size_t i = 0; i < keys.size(); ++i) {
                            const auto found = held_.find(keys[i]);
                            if (found == held_.end()) continue;
                            Held& held = found->second;
                            if (!std::holds_alternative<leases::Grant>(result.value()[i])) {
                              lost.emplace_back(keys[i], held.hold.fence);
                              continue;
                            }
                            held.hold.until_boot_ms = TrustedUntil(asked_ms);
                            if (held.delivery) renewed.push_back(held.delivery);
                          }
                        }
                        for (const auto& delivery : renewed)
                          delivery->Renewed(TrustedUntil(asked_ms));
                        for (const auto& [key, fence] : lost) Lose(key, fence);
                      });
}

void Deliverer::Lose(const SubscriptionKey& key, std::int64_t fence) {
  std::shared_ptr<Delivery> delivery;
  {
    const base::Lock lock(mutex_);
    const auto found = held_.find(key);
    if (found == held_.end() || found->second.hold.fence != fence) return;
    delivery = std::move(found->second.delivery);
    held_.erase(found);
    Counted();
  }
  if (delivery) delivery->End(Delivery::Ending::kCutOff);
}

void Deliverer::ReportAll() {
  std::vector<std::pair<std::shared_ptr<Delivery>, std::int64_t>> deliveries;
  {
    const base::Lock lock(mutex_);
    for (const auto& [key, held] : held_)
      if (held.delivery) deliveries.emplace_back(held.delivery, held.hold.fence);
  }
  for (const auto& [delivery, fence] : deliveries) {
    auto report = delivery->TakeReport();
    if (!report) continue;
    const leases::LeaseKey lease = delivery->key().LeaseOf();
    parts_.subscriptions.ReportSome(
        *report, base::Caller(nullptr, {{lease.tenant, lease.name, fence}}),
        [of = delivery, report = *report](const db::Result<ReportReply>& result) {
          if (!result.ok()) of->TakeBack(report);
        });
  }
}

void Deliverer::Look() {
  {
    const base::Lock lock(mutex_);
    if (is_looking_) {
      look_again_ = true;
      return;
    }
    is_looking_ = true;
  }
  parts_.subscriptions.LookAround([this](const db::Result<Surroundings>& result) {
    if (result.ok()) Seen(result.value());
    {
      const base::Lock lock(mutex_);
      is_looking_ = false;
      if (!std::exchange(look_again_, false) || !result.ok() || stopping_) return;
    }
    Look();
  });
}

void Deliverer::Seen(const Surroundings& around) {
  std::vector<SubscriptionKey> free;
  std::vector<SubscriptionKey> changed;
  std::vector<std::shared_ptr<Delivery>> leaving;
  {
    const base::Lock lock(mutex_);
    if (!has_joined_) return;
    const std::int64_t now_ms = parts_.clock.BootMs();
    std::erase_if(sealed_, [&](const auto& each) { return each.second <= now_ms; });
    std::map<SubscriptionKey, const Sighting*> wanted;
    for (const Sighting& sighting : around.subscriptions) wanted[sighting.key] = &sighting;
    for (auto& [key, held] : held_) {
      const auto found = wanted.find(key);
      if (found == wanted.end() ||
          (held.delivery && (found->second->id != held.id || held.delivery->HasEnded()))) {
        if (std::exchange(held.is_leaving, true) || !held.delivery) continue;
        leaving.push_back(held.delivery);
      } else if (!held.is_leaving && found->second->revision != held.revision) {
        held.revision = found->second->revision;
        changed.push_back(key);
      }
    }
    for (const auto& [key, sighting] : wanted)
      if (!held_.contains(key) && !sealed_.contains(key) && sighting->expires_ms <= around.now_ms &&
          taking_.insert(key).second)
        free.push_back(key);
  }
  for (const auto& delivery : leaving) delivery->End(Delivery::Ending::kLetFinish);
  for (const SubscriptionKey& key : changed) Load(key);
  for (const SubscriptionKey& key : free) Take(key);
}

void Deliverer::Take(const SubscriptionKey& key) {
  const std::int64_t asked_ms = parts_.clock.BootMs();
  const std::int64_t asked_wall_ms = parts_.clock.WallMs();
  leases::AcquireCommand command;
  command.key = key.LeaseOf();
  command.term = base::Uuid::V7(asked_wall_ms);
  command.ttl_ms = kTtlMs;
  command.holder = parts_.process;
  command.received_boot_ms = command.asked_boot_ms = asked_ms;
  parts_.leases.Acquire(
      command, nullptr,
      [this, key, term = command.term, asked_ms](const db::Result<leases::AcquireOutcome>& result) {
        if (result.ok()) return Granted(key, term, asked_ms, result.value());
        const base::Lock lock(mutex_);
        taking_.erase(key);
      });
}

void Deliverer::Granted(const SubscriptionKey& key, const base::Uuid& term,
                        std::int64_t asked_boot_ms, const leases::AcquireOutcome& outcome) {
  {
    const base::Lock lock(mutex_);
    taking_.erase(key);
    const auto* const grant = std::get_if<leases::Grant>(&outcome);
    if (!grant) return;
    held_[key] = Held{.hold = {grant->fence, term, TrustedUntil(asked_boot_ms)}};
    Counted();
  }
  ArmLetGo();
  if (!stopping_) Load(key);
}

void Deliverer::Load(const SubscriptionKey& key) {
  parts_.subscriptions.Find(key, [this, key](const db::Result<FindReply>& result) {
    if (result.ok()) return Loaded(key, result.value());
    const base::Lock lock(mutex_);
    if (const auto found = held_.find(key); found != held_.end()) found->second.revision = 0;
  });
}

void Deliverer::Loaded(const SubscriptionKey& key, const FindReply& found) {
  const std::int64_t now_ms = parts_.clock.BootMs();
  std::shared_ptr<Delivery> delivery;
  std::optional<Endpoint> changed;
  bool is_left = false;
  {
    const base::Lock lock(mutex_);
    const auto it = held_.find(key);
    if (it == held_.end() || it->second.is_leaving || stopping_) return;
    Held& held = it->second;
    if (!found.subscription || !found.subscription->is_delivered() ||
        (held.delivery && held.id != found.subscription->id)) {
      // The next look sees it, also one that was made anew under the same revision meanwhile.
      held.revision = 0;
      return;
    }
    const Subscription& subscription = *found.subscription;
    held.revision = subscription.revision;
    held.id = subscription.id;
    const auto endpoint = EndpointOf(subscription, parts_.vault, found.now_ms, ++last_group_);
    if (!endpoint) {
      CannotOpen(key, held);
      delivery = held.delivery;
    } else if (held.delivery) {
      delivery = held.delivery;
      changed = *endpoint;
    } else {
      CircuitRow circuit = subscription.circuit;
      if (circuit.next_ms > 0)
        circuit.next_ms = now_ms + std::max<std::int64_t>(circuit.next_ms - found.now_ms, 0);
      held.delivery = delivery =
          std::make_shared<Delivery>(delivery_parts_, *endpoint, held.hold, circuit, worker_);
    }
    is_left = held.is_leaving;
  }
  if (!delivery) return;
  if (is_left) return delivery->End(Delivery::Ending::kLetFinish);
  changed ? delivery->Change(*std::move(changed)) : delivery->Start();
}

/// As it was before its change it must not go on either.
void Deliverer::CannotOpen(const SubscriptionKey& key, Held& held) {
  base::LogError("push.sealed",
                 "the secrets of a subscription cannot be opened: their key is not in "
                 "secrets.key_file; others may have it",
                 {{"subscription", key.name}});
  held.is_leaving = true;
  sealed_[key] = parts_.clock.BootMs() + kSealedMs;
}

void Deliverer::Release(const SubscriptionKey& key, const Hold& hold) {
  parts_.leases.Release({.key = key.LeaseOf(), .term = hold.term, .fence = hold.fence}, nullptr,
                        [](const db::Result<leases::ReleaseOutcome>&) {});
}

void Deliverer::Disable(const Endpoint& endpoint) {
  base::LogWarn("push.gone", "an endpoint said that it is gone (410); its subscription is disabled",
                {{"subscription", endpoint.key.name}});
  WriteDisabled({endpoint.key, endpoint.id, endpoint.revision});
}

/// Until the store has it: the delivery has ended already, and would be begun again only by chance.
void Deliverer::WriteDisabled(const DisableCommand& command) {
  base::Caller caller;
  caller.actor = std::make_shared<const base::Actor>(base::Actor{
      .act = "subscription.disable", .tenant = command.key.tenant, .person = parts_.process});
  parts_.subscriptions.Change(command, std::move(caller),
                              [this, command](const db::Result<Outcome>& result) {
                                if (result.ok() || stopping_) return;
                                parts_.wake.Wait("push.disable", parts_.clock.BootMs() + kTickMs,
                                                 [this, command] { WriteDisabled(command); });
                              });
}

void Deliverer::Stop() {
  if (stopping_.exchange(true)) return;
  HeldMap held;
  std::int64_t worker = 0;
  {
    const base::Lock lock(mutex_);
    held = held_;
    worker = worker_;
  }
  for (const auto& [key, one] : held)
    if (one.delivery) one.delivery->End(Delivery::Ending::kCutOff);
  // The requests end on the courier's thread, and soon. Who waits longer than this is not waited for:
  // leases and claims run out by themselves.
  std::vector<std::future<void>> answers;
  const auto wait_for = [&](auto submit) {
    const auto promise = std::make_shared<std::promise<void>>();
    answers.push_back(promise->get_future());
    submit([promise](const auto&) { promise->set_value(); });
  };
  const std::int64_t until_ms = parts_.clock.BootMs() + kStopMs;
  const auto is_over = [](const auto& one) {
    return !one.second.delivery || one.second.delivery->IsOver();
  };
  while (!std::ranges::all_of(held, is_over) && parts_.clock.BootMs() < until_ms)
    std::this_thread::sleep_for(std::chrono::milliseconds(kStopStepMs));
  ReportAll();
  wait_for([&](auto done) {
    parts_.messages.Heartbeat(
        {messages::HeartbeatRequest::Kind::kLeave, worker, "", parts_.process}, nullptr,
        std::move(done));
  });
  for (const auto& [key, one] : held)
    wait_for([&, lease = key.LeaseOf(), hold = one.hold](auto done) {
      parts_.leases.Release({.key = lease, .term = hold.term, .fence = hold.fence}, nullptr,
                            std::move(done));
    });
  for (const auto& answer : answers) answer.wait_for(std::chrono::milliseconds(kStopMs));
}

}  // namespace tenure::push
