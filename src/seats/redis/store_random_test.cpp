// Seats on a real store, their heartbeats in a Redis, over random histories: K1 as machines believe.
//
// What a process will do is done here by hand, one step at a time: confirm, beat, adopt and put, look and give on. Between any
// two of these time passes, and a Redis may be killed, flushed, come back with old data, or have its clock moved. The Redis is
// a model; statements and rules are those of the program.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "seats/redis/authority.hpp"
#include "seats/test_process.hpp"

namespace tenure::seats {
namespace {

constexpr std::int64_t kShortMs = 10'000;
constexpr RedisRules kShortRules{
    .authority_ms = 6'000, .horizon_ms = 4 * kShortMs, .margin_ms = 1'500, .tolerance_ms = 500};

class StoreHistory {
 public:
  explicit StoreHistory(TestProcess& process) : a_(process) {}

  /// What is wrong; "": nothing.
  std::string Run(std::uint64_t seed) {
    random_.seed(seed);
    seats_ = 1 + static_cast<std::int64_t>(Random(2));
    key_ = fmt::format("ACME-2026-{:08}", seed);
    license_ = a_.Create({.seats = seats_, .ttl_ms = kShortMs, .key = key_});
    machines_.assign(static_cast<std::size_t>(seats_) + 2, {});
    authorities_.assign(2, {});
    waiting_.clear();
    wrong_.clear();
    NewRedis(false);
    for (int step = 0; step < 400 && wrong_.empty(); ++step) {
      Pass();
      Act();
    }
    return wrong_.empty() ? "" : fmt::format("seed {}: {}", seed, wrong_);
  }

  std::int64_t kept() const { return kept_; }
  std::int64_t given_on() const { return given_on_; }

 private:
  struct Record {
    std::int64_t fence = 0;
    std::int64_t epoch = 0;
    std::int64_t soft_ms = 0;
    std::int64_t horizon_ms = 0;
  };
  struct Machine {
    std::optional<base::Uuid> session{};
    std::int64_t slot = 0;
    std::int64_t fence = 0;  // 0: no process knows which record is its
    std::int64_t until_ms = 0;
    std::int64_t former_until_ms = 0;  // of a process that was there before, and goes on
  };
  struct Later {
    std::int64_t at_ms = 0;
    std::function<void()> act{};
  };

  std::size_t Random(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }
  base::ManualClock& clock() { return a_.test_store().clock(); }
  std::int64_t Now() { return clock().WallMs(); }
  std::int64_t RedisNow() { return Now() + offset_ms_; }

  void Pass() {
    clock().Advance(static_cast<std::int64_t>(Random(Random(5) == 0 ? 12'000 : 1'500)));
    for (std::size_t i = 0; i < waiting_.size();) {
      if (waiting_[i].at_ms > Now()) {
        ++i;
        continue;
      }
      const auto act = std::move(waiting_[i].act);
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      act();
    }
  }
  /// Now, or after a while.
  void Soon(std::function<void()> act) {
    if (Random(4) > 0) return act();
    waiting_.push_back({Now() + static_cast<std::int64_t>(Random(2 * kShortMs)), std::move(act)});
  }

  void Act() {
    const std::size_t roll = Random(100);
    Machine& machine = machines_[Random(machines_.size())];
    if (roll < 25) return Confirm(authorities_[Random(authorities_.size())]);
    if (roll < 26) return Harm();
    if (roll < 34) return LookAndGiveOn();
    if (!machine.session) return Acquire(machine, nullptr);
    if (roll < 85) return Beat(machine);
    if (roll < 90) {  // it dies, and nobody is told
      machine = {.former_until_ms = machine.former_until_ms};
      return;
    }
    if (roll < 94) return Acquire(machine, nullptr);  // a second process of it
    a_.Release(*machine.session);
    machine = {.former_until_ms = machine.former_until_ms};
  }

  const Use* MayUse(const Authority& authority) { return authority.At(clock().BootMs()); }

  void Confirm(Authority& authority) {
    Confirmation seen;
    seen.asked_ms = clock().BootMs();
    const EpochSeen read = a_.Call(a_.seats(), &Seats::ReadEpoch);
    seen.epoch = read.epoch;
    seen.incarnation = read.incarnation;
    seen.longest_ms = read.longest_ms;
    seen.store_ms = read.now_ms;
    if (is_up_) seen.redis = {identity_, RedisNow()};
    seen.heard_ms = clock().BootMs();
    const auto verdict = Conclude(kShortRules, seen);
    if (const auto* bump = std::get_if<Bump>(&verdict))
      a_.Call(a_.seats(), &Seats::RaiseRedisEpoch,
              {bump->from, bump->identity, bump->offset_ms, kShortRules});
    if (const auto* use = std::get_if<Use>(&verdict)) {
      authority.Take(*use);
      a_.Call(a_.seats(), &Seats::NoteRedisUse, {use->epoch});
    }
  }

  void Acquire(Machine& machine, const TestimonyPtr& testimony) {
    AcquireCommand command = a_.RequestOf(NameOf(machine), {.key = key_}).command;
    command.license = license_;
    command.testimony = testimony;
    const auto outcome = a_.Settle<AcquireOutcome>(std::move(command));
    const auto* grant = std::get_if<Grant>(&outcome);
    if (!grant) return;
    // Two processes of a machine are one holder.
    if (machine.session)
      machine.former_until_ms = std::max(machine.former_until_ms, machine.until_ms);
    machine.session = grant->session;
    machine.fence = 0;
    machine.until_ms = grant->expires_ms;
    if (testimony && !grant->resumed) ++given_on_;
    Judge(fmt::format("{} is given a seat", NameOf(machine)));
  }

  void Beat(Machine& machine) {
    const Authority& authority = authorities_[Random(authorities_.size())];
    const Use* const use = MayUse(authority);
    if (!use || !is_up_ || use->identity != identity_) return BeatInStore(machine, std::nullopt);
    const auto found = records_.find(machine.slot);
    const bool is_known = machine.fence > 0 && found != records_.end() &&
                          found->second.fence == machine.fence &&
                          found->second.epoch == use->epoch && found->second.soft_ms > RedisNow();
    if (!is_known) return BeatInStore(machine, use->epoch);
    Record& record = found->second;
    record.soft_ms = std::max(record.soft_ms, std::min(RedisNow() + kShortMs, record.horizon_ms));
    machine.until_ms = std::max(machine.until_ms, record.soft_ms - offset_ms_);
    ++kept_;
    Judge(fmt::format("{} is renewed by the Redis", NameOf(machine)));
  }

  void BeatInStore(Machine& machine, std::optional<std::int64_t> epoch) {
    const std::int64_t asked_ms = RedisNow();
    const std::string identity = identity_;
    if (epoch) {
      const BeatReply reply =
          a_.Call(a_.seats(), &Seats::Adopt,
                  {"default", "ann", {*machine.session}, Adoption{*epoch, kShortRules.horizon_ms}});
      if (const auto& adopted = reply.adopted.at(0)) {
        machine.slot = adopted->slot;
        machine.fence = adopted->fence;
        const Record put{adopted->fence, *epoch, 0, asked_ms + adopted->horizon_ms - kShortMs / 2};
        Soon([this, identity, put, slot = adopted->slot, not_after_ms = asked_ms + kShortMs / 2] {
          Put(identity, slot, put, not_after_ms);
        });
        machine.until_ms =
            std::max(machine.until_ms, std::get<seats::Beat>(reply.answers.at(0)).expires_ms);
        return Judge(fmt::format("{} is adopted", NameOf(machine)));
      }
    }
    const HeartbeatOutcome outcome = a_.Heartbeat(*machine.session);
    if (const auto* beat = std::get_if<seats::Beat>(&outcome)) {
      machine.until_ms = std::max(machine.until_ms, beat->expires_ms);
      return Judge(fmt::format("{} is renewed", NameOf(machine)));
    }
    machine = {.former_until_ms = machine.former_until_ms};
  }

  void Put(const std::string& identity, std::int64_t slot, Record put, std::int64_t not_after_ms) {
    if (!is_up_ || identity != identity_ || RedisNow() > not_after_ms) return;
    put.soft_ms = std::min(RedisNow() + kShortMs, put.horizon_ms);
    if (const auto found = records_.find(slot); found != records_.end()) {
      const Record& before = found->second;
      if (before.epoch > put.epoch || (before.epoch == put.epoch && before.fence > put.fence))
        return;
      if (before.epoch == put.epoch) {
        put.soft_ms = std::max(put.soft_ms, before.soft_ms);
        put.horizon_ms = std::max(put.horizon_ms, before.horizon_ms);
      }
    }
    records_[slot] = put;
  }

  void LookAndGiveOn() {
    const Use* const use = MayUse(authorities_[Random(authorities_.size())]);
    if (!use || !is_up_ || use->identity != identity_) return;
    const CandidatesReply found = a_.Call(a_.seats(), &Seats::FindRedisCandidates, {license_});
    if (found.epoch != use->epoch || found.seats.empty()) return;
    auto testimony = std::make_shared<Testimony>();
    testimony->look = {found.epoch, found.now_ms, RedisNow()};
    testimony->tolerance_ms = kShortRules.tolerance_ms;
    for (const auto& seat : found.seats) {
      const auto record = records_.find(seat.slot);
      if (record == records_.end() || record->second.epoch != use->epoch) continue;
      if (record->second.soft_ms + kShortRules.margin_ms <= RedisNow())
        testimony->dead.push_back({seat.slot, seat.promise, record->second.soft_ms});
    }
    Soon([this, testimony] {
      for (Machine& machine : machines_)
        if (!machine.session) return Acquire(machine, testimony);
    });
  }

  void Harm() {
    switch (Random(6)) {
      case 0:
        is_up_ = false;
        return;
      case 1:
        return records_.clear();
      case 2:
        return NewRedis(true);
      case 3:
        offset_ms_ += std::array<std::int64_t, 4>{400, 2'000, 10'000, -2'000}[Random(4)];
        return;
      case 4:
        copy_ = records_;
        return;
      default:
        return NewRedis(false);
    }
  }
  void NewRedis(bool with_old_data) {
    identity_ = fmt::format("r{}", ++redis_count_);
    is_up_ = true;
    records_ = with_old_data ? copy_ : std::map<std::int64_t, Record>();
    copy_ = records_;
  }

  std::string NameOf(const Machine& machine) const {
    return fmt::format("m{}", &machine - machines_.data());
  }
  void Judge(const std::string& what) {
    const auto believing = std::ranges::count_if(machines_, [&](const Machine& each) {
      return (each.session && each.until_ms > Now()) || each.former_until_ms > Now();
    });
    if (believing > seats_ && wrong_.empty())
      wrong_ = fmt::format("K1: {}, and {} believe in {} seats", what, believing, seats_);
  }

  TestProcess& a_;
  std::mt19937_64 random_;
  std::int64_t seats_ = 1;
  std::string key_;
  base::Uuid license_;
  std::vector<Machine> machines_;
  std::vector<Authority> authorities_;
  std::vector<Later> waiting_;
  std::string wrong_;
  std::int64_t kept_ = 0;
  std::int64_t given_on_ = 0;

  std::string identity_;
  int redis_count_ = 0;
  bool is_up_ = true;
  std::int64_t offset_ms_ = 7'000;
  std::map<std::int64_t, Record> records_;
  std::map<std::int64_t, Record> copy_;
};

TEST(SeatRedisStore, K1_HoldsOnARealStoreInEveryHistory) {
  store::TestStore store(store::EngineKind::kSqlite, sql::All());
  TestProcess process(store);
  StoreHistory history(process);
  const std::uint64_t most = std::getenv("TENURE_TEST_LONG") ? 5'000 : 12;
  for (std::uint64_t seed = 1; seed <= most; ++seed) ASSERT_EQ(history.Run(seed), "");
  EXPECT_GT(history.kept(), static_cast<std::int64_t>(5 * most)) << "the Redis keeps some";
  EXPECT_GT(history.given_on(), static_cast<std::int64_t>(most) / 20) << "testimony counts";
}

}  // namespace
}  // namespace tenure::seats
