#include "sim/ledger_run.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "seats/keys.hpp"

namespace tenure::sim {
namespace {

seats::RedisRules RulesUnder(LedgerBug planted) {
  seats::RedisRules rules{
      .authority_ms = 6'000, .horizon_ms = 40'000, .margin_ms = 1'500, .tolerance_ms = 500};
  if (planted == LedgerBug::kJumpBelieved) rules.tolerance_ms = 3'600'000;
  // A row that is not adopted anew before the freeze is over.
  if (planted == LedgerBug::kOldRecord || planted == LedgerBug::kLowerEpoch)
    rules.horizon_ms = 300'000;
  // It hears of a bump late.
  if (planted == LedgerBug::kLowerEpoch) rules.authority_ms = 20'000;
  // A short freeze, which one long sleep outlasts.
  if (planted == LedgerBug::kNoAuthority) {
    rules.authority_ms = 3'000;
    rules.margin_ms = 600;
    rules.tolerance_ms = 300;
  }
  return rules;
}

/// The planted bugs that are a change of what is written.
std::string TriggerOf(LedgerBug planted, const seats::RedisRules& rules) {
  const std::string here = " where license_id = new.license_id and slot = new.slot; end";
  switch (planted) {
    case LedgerBug::kNoFreeze:
      return "after update of epoch on seat_ledger begin update seat_ledger set frozen_ms = 0; end";
    case LedgerBug::kShortFreeze:
      return fmt::format(
          "after update of epoch on seat_ledger begin update seat_ledger set frozen_ms = "
          "new.frozen_ms - {}; end",
          seats::LagMs(rules));
    case LedgerBug::kLowerHorizon:
      return "after update of beat_ms on seats when new.fence = old.fence and new.beat_ms > "
             "old.beat_ms and new.horizon_ms = old.horizon_ms begin update seats set horizon_ms = "
             "new.expires_ms" +
             here;
    case LedgerBug::kLowerEpoch:
      return "after update of epoch on seats when new.fence = old.fence and new.horizon_ms > "
             "old.horizon_ms begin update seats set epoch = (select epoch from planted_epoch)" +
             here;
    case LedgerBug::kStaleTestimony:
      return "after update of horizon_ms on seats when new.fence = old.fence and new.horizon_ms > "
             "old.horizon_ms begin update seats set expires_ms = old.expires_ms" +
             here;
    case LedgerBug::kReleaseForgets:
      return "after update of prior_ms on seats when new.prior_ms > 0 begin update seats set "
             "prior_ms = 0" +
             here;
    default:
      return {};
  }
}

/// Which blows fall: all, or those by which a planted bug shows.
std::vector<int> BlowsFor(LedgerBug planted) {
  using enum LedgerBug;
  constexpr int kHeal = 11;
  switch (planted) {
    case kSameEpoch:
    case kOldRecord:
    case kNoFreeze:
    case kShortFreeze:
      return {2, 3, 3, 4, 5, kHeal, kHeal};
    case kNoAuthority:
      return {5, kHeal};
    case kLowerEpoch:
      return {1, 4, kHeal, kHeal};
    case kLowerHorizon:
      return {6, kHeal, kHeal};
    case kJumpBelieved:
      return {9, 10};
    case kNoHorizon:
    case kLatePut:
    case kAbsentIsDead:
    case kRedisRevives:
    case kStaleTestimony:
      return {1, 6, kHeal, kHeal, kHeal};
    default:
      return {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, kHeal, kHeal, kHeal, kHeal, kHeal, kHeal, kHeal};
  }
}

}  // namespace

// A process

LedgerServer::LedgerServer(Ensemble::Process& process, seats::RedisPath::Connections connections,
                           const seats::RedisRules& rules, bool looks_late)
    : seats(*process.store, *process.wake, process.name(),
            {.offer_ms = 3'000, .ticket_ms = 2'000, .line_max = 20}, process.clock,
            process.metrics),
      clock_(process.clock),
      path_clock_(process.clock),
      looks_late_(looks_late),
      path(seats, std::move(connections), {.round = {.rules = rules, .process = process.name()}},
           path_clock_, process.metrics) {
  seats.GoBy(path);
}

bool LedgerServer::RunSome() {
  if (is_busy_) return false;
  struct Busy {
    explicit Busy(LedgerServer& server) : of(server) {
      of.is_busy_ = true;
      if (of.looks_late_) of.path_clock_.Freeze();
    }
    ~Busy() {
      of.is_busy_ = false;
      of.path_clock_.Thaw();
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    LedgerServer& of;
  };
  const Busy busy(*this);
  return path.RunOne(clock_.BootMs());
}

// The scheduler

LedgerRun::LedgerRun(Ensemble& ensemble, std::uint64_t seed, Planted planted)
    : SeedRun(ensemble, seed, planted == LedgerBug::kLowerEpoch ? 400 : 160),
      seed_(seed),
      planted_(planted),
      late_(2),
      late_put_(planted == LedgerBug::kLatePut ? 40 : late_),
      sleepy_(3),
      sleepy_beat_(planted == LedgerBug::kNoAuthority ? 25 : sleepy_),
      drowsy_(planted == LedgerBug::kLatePut ? 10 : 3),
      faithful_(planted == LedgerBug::kNoAuthority  ? 100
                : planted == LedgerBug::kLowerEpoch ? 50
                                                    : 70),
      blows_(BlowsFor(planted)),
      rules_(RulesUnder(planted)),
      targets_(kProcesses),
      is_cut_(kProcesses),
      is_storeless_(kProcesses) {
  clock().Advance(200'000);  // whatever an earlier seed froze
  Weather weather;
  if (Chance(50)) {
    weather.crash = Pick({0, 2, 4});
    weather.lost_reply = Pick({0, 2, 6});
    weather.unavailable = Pick({0, 2, 6});
  }
  weather.slow = Pick({0, 4, 10});
  weather.slowest_commit_ms = 800;
  license_ = NewId();
  tenant_ = "t" + license_.ToString();
  key_hash_ = seats::HashOfKey(tenant_);
  LedgerRedis& first = NewRedis({}, 7'000);
  std::ranges::fill(targets_, &first);
  for (std::size_t i = 0; i < kProcesses; ++i) Restart(i);
  limit_ = 1 + Random(2);
  for (std::size_t i = 0; i < limit_ + 2; ++i) machines_.push_back({fmt::format("m{}", i)});
  Begin(weather);
  Prepare();
}

LedgerRun::~LedgerRun() {
  HearNothing();
  for (std::size_t i = 0; i < kProcesses; ++i) seats(i).StopWaiting();
}

std::map<std::string, std::int64_t> LedgerRun::counts() const {
  std::map<std::string, std::int64_t> counts{
      {"grants", grants_}, {"heartbeats that a Redis kept", 0}, {"testimonies of a death", 0}};
  for (const LedgerRedis& redis : redis_) {
    counts["heartbeats that a Redis kept"] += redis.kept;
    counts["testimonies of a death"] += redis.testified;
  }
  return counts;
}

std::unique_ptr<Server> LedgerRun::Boot(Ensemble::Process& process) {
  const auto link = [&] {
    return std::make_unique<LedgerLink>(
        [this, index = process.index](LedgerLink::Kind kind, const LedgerLink::Question& question) {
          Carry(index, kind, question);
        });
  };
  return std::make_unique<LedgerServer>(process, seats::RedisPath::Connections{link(), link()},
                                        rules_, planted_ == LedgerBug::kNoAuthority);
}

void LedgerRun::Plant() {
  auto& tables = ensemble().tables();
  tables.Ask("create table if not exists planted_epoch (epoch integer not null)");
  tables.Ask("delete from planted_epoch");
  tables.Ask("insert into planted_epoch values (0)");
  tables.Ask("drop trigger if exists planted");
  const std::string trigger = TriggerOf(planted_, rules_);
  if (!trigger.empty()) tables.Ask("create trigger planted " + trigger);
}

void LedgerRun::Prepare() {
  SetCalm(true);
  Plant();
  seats::CreateRequest request;
  seats::LicenseRow& license = request.license;
  license.id = license_;
  license.tenant = tenant_;
  license.seats = static_cast<std::int64_t>(limit_);
  license.ttl_ms = kTtlMs;
  license.interval_ms = kTtlMs / 2;
  request.key_hash = key_hash_;
  seats(0).Create(request, nullptr, Hear(0));
  // Until the Redis is in use, and the freeze of that is over.
  for (const std::int64_t ms : {1'000L, 1'000L, 1'000L, seats::FreezeMs(rules_, kTtlMs), 2'000L}) {
    Pass(ms);
    DriveAllOfThem();
  }
  SetCalm(false);
}

void LedgerRun::Step() {
  const auto roll = Random(100);
  Pass(roll < 40 ? RandomMs(300) : roll < 96 ? RandomMs(1'500) : RandomMs(12'000));
  RunLate();
  if (Chance(5)) Strike();
  const std::size_t process = Random(kProcesses);
  Act(process);
  if (Chance(80)) DriveOne(process);
  if (Chance(40)) DriveAllOfThem();
}

void LedgerRun::DriveOne(std::size_t process) {
  if (asleep_.contains(process)) return;
  NoteEpochOf(process);
  const auto before = std::exchange(driven_, process);
  Drive(process);
  driven_ = before;
  if (before) NoteEpochOf(*before);
}

/// What an adoption of this process may lower an epoch to.
void LedgerRun::NoteEpochOf(std::size_t process) {
  if (planted_ == LedgerBug::kLowerEpoch)
    ensemble().tables().Ask(fmt::format("update planted_epoch set epoch = {}",
                                        server(process).path.round().standing().epoch.epoch));
}

void LedgerRun::DriveAllOfThem() {
  for (std::size_t i = 0; i < kProcesses; ++i) DriveOne(i);
}

void LedgerRun::OnBefore(std::string_view step) {
  if (!calm() && step == "commit" && driven_ && is_storeless_[*driven_])
    throw base::Fault(base::FaultKind::kStoreUnavailable, "simulated");
}

void LedgerRun::RunLate() {
  for (std::size_t i = 0; i < questions_.size();) {
    if (questions_[i].at_ms > Now()) {
      ++i;
      continue;
    }
    const Late late = std::move(questions_[i]);
    questions_.erase(questions_.begin() + static_cast<std::ptrdiff_t>(i));
    if (late.redis->is_up) late.question(*late.redis, TimeOf(*late.redis));
  }
}

// The network

void LedgerRun::Carry(std::size_t process, LedgerLink::Kind kind,
                      const LedgerLink::Question& question) {
  Travel(process, kind);
  LedgerRedis& redis = *targets_[process];
  const auto check = [&] {
    if (!redis.is_up || is_cut_[process]) throw seats::RedisAway("nobody answers");
  };
  check();
  if (!calm() && Chance(kind == LedgerLink::Kind::kPut ? late_put_ : late_)) {
    questions_.push_back({Now() + RandomMs(5 * kTtlMs / 2), &redis, question});
    throw seats::RedisAway("no answer in time");
  }
  question(redis, TimeOf(redis));
  Travel(process, kind);
  check();
  if (!calm() && Chance(2)) throw seats::RedisAway("the answer is lost");
}

void LedgerRun::Travel(std::size_t process, LedgerLink::Kind kind) {
  if (calm()) return;
  if (Random(300) == 0) {
    Trace(fmt::format("process {} dies on its way to the Redis", process));
    throw ProcessCrash();
  }
  if (Chance(kind == LedgerLink::Kind::kBeat ? sleepy_beat_ : sleepy_))
    Sleep(process, Chance(40) ? RandomMs(5 * kTtlMs / 2) : RandomMs(300));
}

/// The others go on meanwhile.
void LedgerRun::Sleep(std::size_t process, std::int64_t ms) {
  if (asleep_.size() + 1 >= kProcesses + 1) return;
  asleep_.insert(process);
  Trace(fmt::format("process {} sleeps for {}", process, ms));
  for (const std::int64_t until_ms = Now() + ms; Now() < until_ms;) {
    Pass(std::min(until_ms - Now(), 1 + RandomMs(1'500)));
    RunLate();
    if (Chance(3)) Strike();
    const std::size_t other = Random(kProcesses);
    Act(other);
    DriveOne(other);
  }
  Trace(fmt::format("process {} goes on", process));
  asleep_.erase(process);
}

LedgerRedis& LedgerRun::NewRedis(LedgerRedis::Records records, std::int64_t offset_ms) {
  LedgerRedis& added = redis_.emplace_back(fmt::format("r{}.{}", seed_, redis_.size()), planted_);
  added.offset_ms = offset_ms;
  added.records = std::move(records);
  added.copy = added.records;
  return added;
}

void LedgerRun::Replace(LedgerRedis& old, const std::function<bool(std::size_t)>& who,
                        std::int64_t jump_ms) {
  LedgerRedis& added = NewRedis(Chance(50) ? old.copy : old.records, old.offset_ms + jump_ms);
  for (std::size_t i = 0; i < kProcesses; ++i)
    if (who(i)) targets_[i] = &added;
}

void LedgerRun::Strike() {
  const std::size_t process = Random(kProcesses);
  LedgerRedis& redis = *targets_[process];
  const int what = blows_[Random(blows_.size())];
  Trace(fmt::format("blow {} on process {} and {}", what, process, redis.identity));
  switch (what) {
    case 0:
      redis.is_up = false;
      return;
    case 1:
      return redis.records.clear();
    case 2:
      redis.copy = redis.records;
      return;
    case 3:
      redis.is_up = false;
      return Replace(
          redis, [&](std::size_t i) { return targets_[i] == &redis; }, 0);
    case 4:  // some see the promoted one
      return Replace(
          redis, [&](std::size_t) { return Chance(60); }, RandomMs(10'000) - 5'000);
    case 5:  // one is left with the old one, and without the store
      is_storeless_[process] = true;
      return Replace(
          redis, [&](std::size_t i) { return i != process; }, RandomMs(10'000) - 5'000);
    case 6:
      is_cut_[process] = true;
      return;
    case 7:
      is_storeless_[process] = true;
      return;
    case 8:
      is_storeless_.assign(kProcesses, true);
      return;
    case 9:
      redis.offset_ms += std::array<std::int64_t, 4>{400, 2'000, kTtlMs, 2 * kTtlMs}[Random(4)];
      return;
    case 10:  // by less than half a ttl
      redis.offset_ms -= std::array<std::int64_t, 4>{80, 400, 2'000, 4'000}[Random(4)];
      return;
    default:
      is_storeless_[process] = is_cut_[process] = false;
      for (LedgerRedis& each : redis_)
        if (each.is_up) targets_[process] = &each;
  }
}

void LedgerRun::Heal() {
  is_cut_.assign(kProcesses, false);
  is_storeless_.assign(kProcesses, false);
  questions_.clear();
  LedgerRedis& last = redis_.back();
  last.is_up = true;
  std::ranges::fill(targets_, &last);
}

// Machines

void LedgerRun::Act(std::size_t process) {
  const std::size_t machine = Random(machines_.size());
  const auto roll = Random(100);
  if (roll < 5) return Operate(process);
  if (roll < 15) {
    std::vector<std::pair<std::size_t, base::Uuid>> all;
    for (std::size_t i = 0; i < machines_.size(); ++i)
      if (machines_[i].asleep_until_ms <= Now() && (faithful_ < 100 || i % kProcesses == process))
        for (const Holding& each : machines_[i].holdings) all.emplace_back(i, each.session);
    return Beat(all, process);
  }
  Machine& of = machines_[machine];
  if (of.asleep_until_ms > Now()) return;
  if (Chance(drowsy_)) {
    of.asleep_until_ms = Now() + RandomMs(5 * kTtlMs / 2);
    return Trace(fmt::format("{} sleeps", of.name));
  }
  // Most of the time it asks the same one.
  if (Chance(faithful_)) process = machine % kProcesses;
  if (of.holdings.empty()) return Acquire(machine, process, Chance(50));
  if (roll < 84) return Beat({{machine, of.holdings[Random(of.holdings.size())].session}}, process);
  if (roll < 89) return Die(machine);
  if (roll < 94) return Acquire(machine, process, false);  // a second process of it
  Release(machine, process);
}

void LedgerRun::Acquire(std::size_t machine, std::size_t process, bool names_former) {
  Machine& of = machines_[machine];
  seats::AcquireRequest request{key_hash_, {}, Chance(10) ? RandomMs(6'000) : 0, {}};
  seats::AcquireCommand& command = request.command;
  command.tenant = tenant_;
  command.person = "ann";
  command.machine = of.name;
  command.new_session = NewId();
  command.new_ticket = NewId();
  command.received_boot_ms = Now();
  if (names_former) command.former = std::exchange(of.former, std::nullopt);
  Trace(fmt::format("{} asks process {} for a seat{}", of.name, process,
                    command.former ? ", names " + NameOf(*command.former) : ""));
  seats(process).Acquire(
      std::move(request), nullptr, Hear(process, [this, machine](const auto& result) {
        if (!result.ok()) return;
        const auto& outcome = std::get<seats::AcquireOutcome>(result.value());
        const auto* const grant = std::get_if<seats::Grant>(&outcome);
        if (!grant) return;
        Machine& one = machines_[machine];
        one.holdings.push_back({grant->session, grant->expires_ms});
        ++grants_;
        Judge(fmt::format("{} is given {}{} for {}", one.name, NameOf(grant->session),
                          grant->resumed ? " (resumed)" : "", grant->expires_ms - Wall()));
      }));
}

void LedgerRun::Beat(const std::vector<std::pair<std::size_t, base::Uuid>>& all,
                     std::size_t process) {
  if (all.empty()) return;
  seats::BeatRequest request{tenant_, "ann", {}};
  std::string names;
  for (const auto& [machine, session] : all) {
    request.sessions.push_back(session);
    names += " " + NameOf(session);
  }
  Trace(fmt::format("a heartbeat of{} to process {}", names, process));
  seats(process).Heartbeat(
      std::move(request), nullptr, Hear(process, [this, all](const auto& result) {
        if (!result.ok()) return;
        for (std::size_t i = 0; i < all.size(); ++i) {
          const auto& [machine, session] = all[i];
          Holding* const holding = Find(machine, session);
          if (!holding) continue;
          const seats::HeartbeatOutcome& outcome = result.value().outcomes[i];
          if (const auto* const beat = std::get_if<seats::Beat>(&outcome)) {
            holding->until_ms = std::max(holding->until_ms, beat->expires_ms);
            Judge(fmt::format("{} of {} is renewed for {}", NameOf(session),
                              machines_[machine].name, beat->expires_ms - Wall()));
          } else if (!std::holds_alternative<seats::Forgotten>(outcome) &&
                     !std::holds_alternative<seats::Unheard>(outcome)) {
            Trace(fmt::format("{} is lost", NameOf(session)));
            std::erase_if(machines_[machine].holdings,
                          [&](const Holding& each) { return each.session == session; });
          }
        }
      }));
}

/// Belief ends before the request goes out.
void LedgerRun::Release(std::size_t machine, std::size_t process) {
  auto& holdings = machines_[machine].holdings;
  const auto which = holdings.begin() + static_cast<std::ptrdiff_t>(Random(holdings.size()));
  const base::Uuid session = which->session;
  holdings.erase(which);
  Trace(fmt::format("{} of {} is released at process {}", NameOf(session), machines_[machine].name,
                    process));
  seats(process).Release({{}, tenant_, "ann", session}, nullptr, Hear(process));
}

void LedgerRun::Die(std::size_t machine) {
  Machine& of = machines_[machine];
  const auto which = of.holdings.begin() + static_cast<std::ptrdiff_t>(Random(of.holdings.size()));
  Trace(fmt::format("{} of {} dies", NameOf(which->session), of.name));
  if (Chance(60)) of.former = which->session;
  of.holdings.erase(which);
}

void LedgerRun::Operate(std::size_t process) {
  const auto roll = Random(10);
  if (roll < 4) {
    Trace(fmt::format("process {} sweeps", process));
    if (Chance(50)) return server(process).path.GiveOn(license_, [](const auto&) {});
    return seats(process).Settle<seats::SweepOutcome>(seats::SweepCommand{license_}, nullptr,
                                                      Hear(process));
  }
  if (roll < 8) {
    seats::ChangeCommand command;
    command.license = license_;
    command.by = "op";
    command.ttl_ms = Chance(60) ? kTtlMs : kTtlMs / 4;
    Trace(fmt::format("the ttl shall be {}", *command.ttl_ms));
    return seats(process).Settle<seats::AdminOutcome>(std::move(command), nullptr, Hear(process));
  }
  const Machine& machine = machines_[Random(machines_.size())];
  if (machine.holdings.empty()) return;
  const base::Uuid session = machine.holdings.front().session;
  Trace(fmt::format("{} is revoked", NameOf(session)));
  seats(process).RevokeSeat({{}, tenant_, session, "because", false, "op"}, nullptr, Hear(process));
}

bool LedgerRun::Believes(const Machine& machine) const {
  return std::ranges::any_of(machine.holdings,
                             [&](const Holding& each) { return each.until_ms > Wall(); });
}

LedgerRun::Holding* LedgerRun::Find(std::size_t machine, const base::Uuid& session) {
  auto& holdings = machines_[machine].holdings;
  const auto found = std::ranges::find(holdings, session, &Holding::session);
  return found == holdings.end() ? nullptr : &*found;
}

void LedgerRun::Judge(const std::string& what) {
  Trace(what);
  const auto believing = static_cast<std::size_t>(
      std::ranges::count_if(machines_, [&](const Machine& each) { return Believes(each); }));
  if (believing > limit_)
    Violation(fmt::format("K1: {}, and {} believe in {} seats", what, believing, limit_));
}

std::string LedgerRun::NameOf(const base::Uuid& session) {
  const auto [found, is_new] = names_.try_emplace(session);
  if (is_new) found->second = fmt::format("s{}", names_.size());
  return found->second;
}

// The end

void LedgerRun::Settle() {
  if (has_violations()) return;
  Heal();
  DriveAllOfThem();
  for (Machine& each : machines_) each.holdings.clear();
  const std::size_t first = machines_.size();
  // Nobody can believe longer than the horizon of what was adopted last.
  const std::int64_t until_ms = Now() + rules_.horizon_ms + 2 * kTtlMs;
  for (std::size_t i = 0; i < limit_; ++i) {
    machines_.push_back({fmt::format("f{}", i)});
    while (!Believes(machines_.back()) && Now() < until_ms) {
      Pass(500);
      DriveAllOfThem();
      std::vector<std::pair<std::size_t, base::Uuid>> all;
      for (std::size_t one = first; one + 1 < machines_.size(); ++one)
        for (const Holding& each : machines_[one].holdings) all.emplace_back(one, each.session);
      Beat(all, Random(kProcesses));
      Acquire(machines_.size() - 1, Random(kProcesses), false);
      Pass(1);
      DriveAllOfThem();
    }
    if (!Believes(machines_.back()))
      return Violation("K2: a seat is not to be had, though everybody is gone");
  }
}

}  // namespace tenure::sim
