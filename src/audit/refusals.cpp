#include "audit/refusals.hpp"

#include <iterator>
#include <limits>
#include <utility>

#include "base/json_writer.hpp"

namespace tenure::audit {
namespace {

db::AuditEvent SumOf(const db::AuditEvent& last, std::int64_t times) {
  db::AuditEvent sum{last.object, ""};
  base::JsonWriter json(sum.detail);
  json.BeginObject().Field("times", times).Key("last").Raw(last.detail).EndObject();
  return sum;
}

}  // namespace

Refusals::Refusals(Write write, const base::Clock& clock, Probe& probe, const Limits& limits)
    : write_(std::move(write)), clock_(clock), probe_(probe), limits_(limits) {}

Refusals::Asker Refusals::AskerOf(const base::Actor& actor) {
  return {actor.act, actor.tenant, actor.person, actor.address};
}

void Refusals::Limit(base::Actor& actor) const {
  if (tallies_.size() < limits_.askers || tallies_.contains(AskerOf(actor))) return;
  actor = base::Actor{.act = std::move(actor.act)};
}

void Refusals::Note(base::Actor actor, db::AuditEvent event, base::Task done) {
  probe_.Refused(1);
  Tally ended;
  {
    base::Lock lock(mutex_);
    Limit(actor);
    Tally& tally = tallies_[AskerOf(actor)];
    const std::int64_t now_boot_ms = clock_.BootMs();
    if (now_boot_ms < tally.until_boot_ms) {
      tally.actor = std::move(actor);
      tally.event = std::move(event);
      ++tally.untold;
      lock.unlock();
      return done();
    }
    ended = std::exchange(tally, {actor, event, now_boot_ms + limits_.window_ms, 0});
  }
  if (ended.untold > 0) WriteSum(std::move(ended));
  write_(actor, event, [this, actor, event, done = std::move(done)](bool written) mutable {
    if (!written) AddBack(std::move(actor), std::move(event), 1);
    done();
  });
}

bool Refusals::Begin(base::Actor actor) {
  Tally ended;
  {
    const base::Lock lock(mutex_);
    Limit(actor);
    Tally& tally = tallies_[AskerOf(actor)];
    const std::int64_t now_boot_ms = clock_.BootMs();
    if (now_boot_ms < tally.until_boot_ms) return false;
    ended = std::exchange(tally, {std::move(actor), {}, now_boot_ms + limits_.window_ms, 0});
  }
  if (ended.untold > 0) WriteSum(std::move(ended));
  return true;
}

void Refusals::Withdraw(base::Actor actor) {
  const base::Lock lock(mutex_);
  Limit(actor);
  const auto found = tallies_.find(AskerOf(actor));
  if (found != tallies_.end() && found->second.untold == 0) tallies_.erase(found);
}

void Refusals::Count(base::Actor actor, db::AuditEvent event) {
  const base::Lock lock(mutex_);
  Limit(actor);
  Tally& tally = tallies_[AskerOf(actor)];
  if (tally.until_boot_ms == 0) tally.until_boot_ms = clock_.BootMs() + limits_.window_ms;
  tally.actor = std::move(actor);
  tally.event = std::move(event);
  ++tally.untold;
}

std::vector<Refusals::Tally> Refusals::TakeEnded(std::int64_t boot_ms) {
  std::vector<Tally> ended;
  const base::Lock lock(mutex_);
  for (auto at = tallies_.begin(); at != tallies_.end();) {
    const bool is_over = at->second.until_boot_ms <= boot_ms;
    if (is_over && at->second.untold > 0) ended.push_back(std::move(at->second));
    at = is_over ? tallies_.erase(at) : std::next(at);
  }
  return ended;
}

void Refusals::Flush() {
  for (Tally& tally : TakeEnded(clock_.BootMs())) WriteSum(std::move(tally));
}

void Refusals::Stop() {
  for (Tally& tally : TakeEnded(std::numeric_limits<std::int64_t>::max()))
    WriteSum(std::move(tally));
}

void Refusals::WriteSum(Tally sum) {
  db::AuditEvent event = SumOf(sum.event, sum.untold);
  base::Actor actor = sum.actor;
  write_(std::move(actor), std::move(event), [this, sum = std::move(sum)](bool written) mutable {
    if (!written) AddBack(std::move(sum.actor), std::move(sum.event), sum.untold);
  });
}

void Refusals::AddBack(base::Actor actor, db::AuditEvent event, std::int64_t count) {
  const base::Lock lock(mutex_);
  Limit(actor);
  Tally& tally = tallies_[AskerOf(actor)];
  tally.untold += count;
  if (tally.until_boot_ms > 0) return;  // somebody came meanwhile, who is the last one
  tally.until_boot_ms = clock_.BootMs() + limits_.window_ms;
  tally.actor = std::move(actor);
  tally.event = std::move(event);
}

}  // namespace tenure::audit
