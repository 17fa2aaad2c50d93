#include "audit/refusals.hpp"

#include <iterator>
#include <limits>
#include <utility>

#include "base/json_writer.hpp"

namespace tenure::audit {
namespace {

db::Deed SumOf(const db::Deed& last, std::int64_t times) {
  db::Deed sum{last.object, ""};
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
  if (windows_.size() < limits_.askers || windows_.contains(AskerOf(actor))) return;
  actor = base::Actor{.act = std::move(actor.act)};
}

void Refusals::Note(base::Actor actor, db::Deed deed, base::Task done) {
  probe_.Refused(1);
  Window ended;
  {
    std::unique_lock lock(mutex_);
    Limit(actor);
    Window& window = windows_[AskerOf(actor)];
    const std::int64_t now_boot_ms = clock_.BootMs();
    if (now_boot_ms < window.until_boot_ms) {
      window.actor = std::move(actor);
      window.deed = std::move(deed);
      ++window.untold;
      lock.unlock();
      return done();
    }
    ended = std::exchange(window, {actor, deed, now_boot_ms + limits_.window_ms, 0});
  }
  if (ended.untold > 0) WriteSum(std::move(ended));
  write_(actor, deed, [this, actor, deed, done = std::move(done)](bool written) mutable {
    if (!written) AddBack(std::move(actor), std::move(deed), 1);
    done();
  });
}

std::vector<Refusals::Window> Refusals::TakeEnded(std::int64_t boot_ms) {
  std::vector<Window> ended;
  const std::lock_guard lock(mutex_);
  for (auto at = windows_.begin(); at != windows_.end();) {
    const bool is_over = at->second.until_boot_ms <= boot_ms;
    if (is_over && at->second.untold > 0) ended.push_back(std::move(at->second));
    at = is_over ? windows_.erase(at) : std::next(at);
  }
  return ended;
}

void Refusals::Flush() {
  for (Window& window : TakeEnded(clock_.BootMs())) WriteSum(std::move(window));
}

void Refusals::Stop() {
  for (Window& window : TakeEnded(std::numeric_limits<std::int64_t>::max()))
    WriteSum(std::move(window));
}

void Refusals::WriteSum(Window sum) {
  db::Deed deed = SumOf(sum.deed, sum.untold);
  base::Actor actor = sum.actor;
  write_(std::move(actor), std::move(deed), [this, sum = std::move(sum)](bool written) mutable {
    if (!written) AddBack(std::move(sum.actor), std::move(sum.deed), sum.untold);
  });
}

void Refusals::AddBack(base::Actor actor, db::Deed deed, std::int64_t count) {
  const std::lock_guard lock(mutex_);
  Limit(actor);
  Window& window = windows_[AskerOf(actor)];
  window.untold += count;
  if (window.until_boot_ms > 0) return;  // somebody came meanwhile, who is the last one
  window.until_boot_ms = clock_.BootMs() + limits_.window_ms;
  window.actor = std::move(actor);
  window.deed = std::move(deed);
}

}  // namespace tenure::audit
