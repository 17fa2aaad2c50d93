// Seats whose heartbeats a Redis keeps, under the stepped scheduler: PostgreSQL statement by statement, and the way to the
// Redis and back as steps between them. K1 as machines believe, whenever one is told something; K2 at the end; no deadlock
// ever. The Redis is the simulation's model of the scripts (../sim/ledger_redis.hpp).

#include <algorithm>
#include <list>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/log.hpp"
#include "seats/keys.hpp"
#include "seats/redis/redis_path.hpp"
#include "seats_sql/queries.hpp"
#include "sim/ledger_redis.hpp"
#include "stepped/frame.hpp"

namespace tenure::stepped {
namespace {

using sim::LedgerBug;
using sim::LedgerLink;
using sim::LedgerRedis;

constexpr std::int64_t kLedgerTtlMs = 1'500;

/// Times that pass within a few batches of statements.
seats::RedisRules LedgerRulesUnder(LedgerBug planted) {
  seats::RedisRules rules{
      .authority_ms = 800, .horizon_ms = 6'000, .margin_ms = 500, .tolerance_ms = 250};
  // A row that is not adopted anew before the freeze is over.
  if (planted == LedgerBug::kOldRecord || planted == LedgerBug::kLowerEpoch)
    rules.horizon_ms = 40'000;
  return rules;
}

class LedgerStepRun;

/// A process whose heartbeats go by a Redis. Its threads are run by the lanes' own.
class LedgerServer final : public Server {
 public:
  LedgerServer(Process& of, seats::RedisPath::Connections connections,
               const seats::RedisRules& rules)
      : process(of),
        seats(of.store(), of.wake(), of.name(), {.offer_ms = 300, .ticket_ms = 300, .line_max = 20},
              of.clock(), of.metrics()),
        path(seats, std::move(connections), {.round = {.rules = rules, .process = of.name()}},
             of.clock(), of.metrics()) {
    seats.GoBy(path);
  }

  /// Its rounds come with the batches: they must not keep a batch from its end.
  bool RunSome() override { return path.RunOne(round_ms); }

  Process& process;
  std::int64_t round_ms = 0;
  seats::Seats seats;
  seats::RedisPath path;  // uses the rest
};

class LedgerStepRun final : public Frame {
 public:
  explicit LedgerStepRun(LedgerBug planted)
      : Frame({.queries = QueriesOf({seats::sql::All()}),
               .batches = 14,
               .odds = {.crash_percent = 1, .lost_reply_percent = 3, .pause_percent = 3},
               .lock_step = "seats.lock_licenses"}),
        planted_(planted),
        rules_(LedgerRulesUnder(planted)) {
    const auto plant = [&](std::string_view part, std::string_view by) {
      Plant(seats::sql::kAdoptSeats, part, by);
    };
    if (planted == LedgerBug::kLowerEpoch) plant("greatest(s.epoch, item.epoch)", "item.epoch");
    if (planted == LedgerBug::kStaleTestimony)
      plant("greatest(s.expires_ms, item.expires_ms)", "s.expires_ms");
    if (planted == LedgerBug::kDeadNotLocked)
      Plant(seats::sql::kLockDead, "for no key update of s skip locked", "");
    base::SetLogLevel(base::LogLevel::kError);
  }
  ~LedgerStepRun() override { base::SetLogLevel(base::LogLevel::kInfo); }

 private:
  struct Holding {
    base::Uuid session{};
    std::int64_t until_ms = 0;  ///< so long it believes, on the store's clock
  };
  struct Machine {
    std::string name{};
    std::vector<Holding> holdings{};
    std::optional<base::Uuid> former{};
  };

  std::unique_ptr<Server> Boot(Process& process) override {
    const auto link = [&] {
      return std::make_unique<LedgerLink>(
          [this, &process](LedgerLink::Kind kind, const LedgerLink::Question& question) {
            Carry(process, kind, question);
          });
    };
    return std::make_unique<LedgerServer>(process, seats::RedisPath::Connections{link(), link()},
                                          rules_);
  }
  LedgerServer& server(Process& process) { return ServerOf<LedgerServer>(process); }
  seats::Seats& seats(Process& process) { return server(process).seats; }
  std::int64_t Wall() { return clock().WallMs(); }

  template <class Then>
  auto Listen(Then then) {
    return [this, then = std::move(then)](const auto& result) {
      if (Expect(result)) then(result.value());
    };
  }
  auto Listen() {
    return Listen([](const auto&) {});
  }

  void Begin() override {
    redis_.clear();
    questions_.clear();
    is_calm_ = true;
    NewRedis({}, 7'000);
    targets_.fill(&redis_.back());
    license_ = NewId();
    limit_ = 1 + Random(2);
    machines_.clear();
    for (std::size_t i = 0; i < limit_ + 2; ++i) machines_.push_back({fmt::format("m{}", i)});
    // No earlier seed's freeze or promise counts any more.
    clock().Advance(100'000);
    seats::CreateRequest request;
    request.license.id = license_;
    request.license.tenant = tenant();
    request.license.seats = static_cast<std::int64_t>(limit_);
    request.license.ttl_ms = kLedgerTtlMs;
    request.license.interval_ms = kLedgerTtlMs / 2;
    request.key_hash = seats::HashOfKey(tenant());
    Ask<seats::CreateReply>([&](Process& process, auto done) {
      seats(process).Create(request, nullptr, std::move(done));
    });
    // Until the Redis is in use, and the freeze of that is over.
    for (const std::int64_t ms : {1L, 500L, 500L, seats::FreezeMs(rules_, kLedgerTtlMs), 500L}) {
      clock().Advance(ms);
      Alone([&](Process& process) { server(process).round_ms = clock().BootMs(); });
    }
    is_calm_ = false;
  }

  /// A process has authority for some hundred steps.
  void BetweenSteps() override { clock().Advance(static_cast<std::int64_t>(Random(6))); }

  void Submit(Process& process) override {
    server(process).round_ms = clock().BootMs();
    RunLate();
    if (Chance(6)) clock().Advance(static_cast<std::int64_t>(Random(2 * kLedgerTtlMs)));
    if (Chance(4)) Strike(process);
    for (auto count = 1 + Random(2); count > 0; --count) Act(process);
  }

  // The way to the Redis

  LedgerRedis& NewRedis(LedgerRedis::Records records, std::int64_t offset_ms) {
    LedgerRedis& added =
        redis_.emplace_back(fmt::format("{}.{}", tenant(), redis_.size()), planted_);
    added.offset_ms = offset_ms;
    added.copy = records;
    added.records = std::move(records);
    return added;
  }

  /// Each way is a step: what others do meanwhile is theirs to choose.
  void Carry(Process& process, LedgerLink::Kind kind, const LedgerLink::Question& question) {
    process.Before("redis");
    LedgerRedis& redis = *targets_[process.index()];
    const bool is_late = kind == LedgerLink::Kind::kPut
                             ? Chance(planted_ == LedgerBug::kLatePut ? 40 : 4)
                             : Chance(1);
    if (!is_calm_ && is_late) {
      questions_.push_back(
          {Wall() + static_cast<std::int64_t>(Random(3 * kLedgerTtlMs)), &redis, question});
      throw seats::RedisAway("no answer in time");
    }
    question(redis, Wall() + redis.offset_ms);
    process.Before("redis answered");
    if (!is_calm_ && Chance(2)) throw seats::RedisAway("the answer is lost");
  }

  void RunLate() {
    for (auto each = questions_.begin(); each != questions_.end();) {
      if (each->at_ms > Wall()) {
        ++each;
        continue;
      }
      const Late late = std::move(*each);
      each = questions_.erase(each);
      late.question(*late.redis, Wall() + late.redis->offset_ms);
    }
  }

  /// It forgets, dies and comes back with what it has or had, a replica takes over that one process does not see, or
  /// its clock jumps.
  void Strike(Process& process) {
    LedgerRedis& redis = *targets_[process.index()];
    const auto what = Random(6);
    if (what == 0) return redis.records.clear();
    if (what == 1) {
      redis.copy = redis.records;
      return;
    }
    if (what == 2) {
      redis.offset_ms += Chance(50) ? 1'000 : -static_cast<std::int64_t>(kLedgerTtlMs / 3);
      return;
    }
    LedgerRedis& added = NewRedis(Chance(50) ? redis.copy : redis.records, redis.offset_ms);
    for (std::size_t i = 0; i < kProcesses; ++i)
      if (what != 5 || i != process.index()) targets_[i] = &added;
  }

  // Machines

  void Act(Process& process) {
    const auto roll = Random(100);
    if (roll < 6) return Operate(process);
    const std::size_t index = Random(machines_.size());
    Machine& machine = machines_[index];
    if (machine.holdings.empty()) return Acquire(process, index, Chance(50));
    if (roll < 78) return Beat(process, index);
    if (roll < 85) {  // it dies, and may have left its state file
      if (Chance(60)) machine.former = machine.holdings.back().session;
      machine.holdings.pop_back();
      return;
    }
    if (roll < 92) return Acquire(process, index, false);
    Release(process, machine);
  }

  void Operate(Process& process) {
    const auto roll = Random(10);
    if (roll < 5) return server(process).path.GiveOn(license_, [](const auto&) {});
    if (roll < 7)
      return seats(process).Settle<seats::SweepOutcome>(seats::SweepCommand{license_}, nullptr,
                                                        Listen());
    if (roll < 9) {
      seats::ChangeCommand command;
      command.license = license_;
      command.by = "op";
      command.ttl_ms = Chance(60) ? kLedgerTtlMs : kLedgerTtlMs / 3;
      return seats(process).Settle<seats::AdminOutcome>(std::move(command), nullptr, Listen());
    }
    const Machine& machine = machines_[Random(machines_.size())];
    if (machine.holdings.empty()) return;
    seats(process).RevokeSeat(
        {{}, tenant(), machine.holdings.front().session, "because", false, "op"}, nullptr,
        Listen());
  }

  void Acquire(Process& process, std::size_t index, bool names_former) {
    Machine& machine = machines_[index];
    seats::AcquireRequest request{seats::HashOfKey(tenant()), {}, 0, {}};
    seats::AcquireCommand& command = request.command;
    command.tenant = tenant();
    command.person = "ann";
    command.machine = machine.name;
    command.new_session = NewId();
    command.new_ticket = NewId();
    command.received_boot_ms = clock().BootMs();
    if (names_former) command.former = std::exchange(machine.former, std::nullopt);
    seats(process).Acquire(
        std::move(request), nullptr, Listen([this, index](const seats::Seats::Acquired& acquired) {
          const auto* const outcome = std::get_if<seats::AcquireOutcome>(&acquired);
          const auto* const grant = outcome ? std::get_if<seats::Grant>(outcome) : nullptr;
          if (!grant) return;
          machines_[index].holdings.push_back({grant->session, grant->expires_ms});
          JudgeK1("a grant");
        }));
  }

  void Beat(Process& process, std::size_t index) {
    seats::BeatRequest request{tenant(), "ann", {}};
    for (const Holding& each : machines_[index].holdings) request.sessions.push_back(each.session);
    const auto sessions = request.sessions;
    seats(process).Heartbeat(
        std::move(request), nullptr, Listen([this, index, sessions](const auto& reply) {
          auto& holdings = machines_[index].holdings;
          for (std::size_t i = 0; i < sessions.size(); ++i) {
            const auto found = std::ranges::find(holdings, sessions[i], &Holding::session);
            if (found == holdings.end()) continue;
            const seats::HeartbeatOutcome& outcome = reply.outcomes[i];
            if (const auto* const beat = std::get_if<seats::Beat>(&outcome)) {
              found->until_ms = std::max(found->until_ms, beat->expires_ms);
              JudgeK1("a heartbeat");
            } else if (!std::holds_alternative<seats::Forgotten>(outcome) &&
                       !std::holds_alternative<seats::Unheard>(outcome)) {
              holdings.erase(found);
            }
          }
        }));
  }

  /// Belief ends before the request goes out.
  void Release(Process& process, Machine& machine) {
    const base::Uuid session = machine.holdings.back().session;
    machine.holdings.pop_back();
    seats(process).Release({{}, tenant(), "ann", session}, nullptr, Listen());
  }

  bool Believes(const Machine& machine) {
    return std::ranges::any_of(machine.holdings,
                               [&](const Holding& each) { return each.until_ms > Wall(); });
  }
  void JudgeK1(const std::string& what) {
    const auto believing = static_cast<std::size_t>(
        std::ranges::count_if(machines_, [&](const Machine& each) { return Believes(each); }));
    if (believing > limit_)
      Violation(fmt::format("K1: with {} {} believe in {} seats", what, believing, limit_));
  }

  /// Nobody can believe longer than the horizon of what was adopted last.
  void Judge() override {
    for (const LedgerRedis& each : redis_) {
      kept_ += each.kept;
    }
    if (has_violations()) return;
    is_calm_ = true;
    questions_.clear();
    clock().Advance(rules_.horizon_ms + 2 * kLedgerTtlMs);
    for (Machine& each : machines_) each.holdings.clear();
    for (std::size_t i = 0; i < limit_; ++i) {
      machines_.push_back({fmt::format("f{}", i)});
      Alone([&](Process& process) {
        server(process).round_ms = clock().BootMs();
        Acquire(process, machines_.size() - 1, false);
      });
      if (!Believes(machines_.back()))
        Violation("K2: a seat is not to be had, though everybody is gone");
    }
  }

  struct Late {
    std::int64_t at_ms = 0;
    LedgerRedis* redis = nullptr;
    LedgerLink::Question question{};
  };

  const LedgerBug planted_;
  const seats::RedisRules rules_;
  base::Uuid license_{};
  std::size_t limit_ = 1;
  std::vector<Machine> machines_;
  std::list<LedgerRedis> redis_;
  std::array<LedgerRedis*, kProcesses> targets_{};
  std::list<Late> questions_;
  bool is_calm_ = true;

 public:
  // Of all seeds.
  std::int64_t kept_ = 0;
};

TEST(SteppedSeatLedger, K1_K2_HoldInEveryInterleavingAndNothingDeadlocks) {
  LedgerStepRun run(LedgerBug::kNothing);
  const auto seeds = support::ExpectEverySeedHolds(run, {12, 5'000});
  EXPECT_GT(run.kept_, seeds) << "heartbeats that a Redis kept";
}

}  // namespace
}  // namespace tenure::stepped
