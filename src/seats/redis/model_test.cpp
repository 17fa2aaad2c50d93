// The rules of heartbeats in a Redis over random histories, judged by what machines believe.
//
// A few processes, machines and Redis servers on one store. Between any two questions a process may stand still or crash, a
// reply may be lost, a Redis may be killed, flushed, restarted with old data or replaced by a replica that is behind; links
// are cut, clocks jump. The judge knows nothing of rows: it counts the machines that believe, by the answers that they got,
// that they hold a seat now. There are never more than seats.
//
// The rules are those of the program (promise.hpp, authority.hpp). Store and Redis are models: what the scripts do is
// said here again.

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <set>
#include <variant>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "seats/redis/authority.hpp"
#include "seats/redis/test/steps.hpp"

namespace tenure::seats {
namespace {

using test::Call;

enum class Planted {
  kNothing,
  kSameEpoch,       ///< another Redis is used under the same epoch
  kNoFreeze,        ///< an epoch is raised without a freeze
  kShortFreeze,     ///< the freeze is as long as a ttl
  kNoAuthority,     ///< nobody looks after the reply whether its authority has run out
  kOldRecord,       ///< a record of an older epoch is honoured
  kNoHorizon,       ///< a Redis promises beyond the horizon
  kLowerHorizon,    ///< a heartbeat in the store lowers the horizon
  kLowerEpoch,      ///< an adoption that a bump overtook lowers the row's epoch
  kStaleTestimony,  ///< testimony counts for a row that was touched since
  kLatePut,         ///< a put takes effect however late it comes
  kJumpBelieved,    ///< a clock that jumped is believed
  kAbsentIsDead,    ///< a seat that the Redis does not know counts as dead
  kRedisRevives,    ///< a late heartbeat revives in the Redis
  kReleaseForgets,  ///< a release frees at once what a former process was promised
};

constexpr std::int64_t kTtlMs = 10'000;
constexpr RedisRules kModelRules{
    .authority_ms = 6'000, .horizon_ms = 4 * kTtlMs, .margin_ms = 1'500, .tolerance_ms = 500};
constexpr std::int64_t kPutWindowMs = kTtlMs / 2;
constexpr std::int64_t kLongAgo = -1'000'000'000;

/// No answer: whether it happened is not known.
struct Gone {};

class World;

/// One Redis: who it is, its clock, its records.
struct RedisModel {
  struct Record {
    std::int64_t fence = 0;
    std::int64_t epoch = 0;
    std::int64_t soft_ms = 0;
    std::int64_t horizon_ms = 0;
  };
  using Records = std::map<int, Record>;

  std::string identity{};
  bool alive = true;
  std::int64_t offset_ms = 0;
  Records records{};
  std::vector<Records> copies{};
};

struct RowModel {
  int machine = -1;
  Promise promise{.fence = 0, .expires_ms = kLongAgo, .horizon_ms = kLongAgo, .epoch = 0};
  std::int64_t prior_ms = kLongAgo;
};

struct Told {
  int row = 0;
  std::int64_t fence = 0;
  std::int64_t until_ms = 0;
};

struct Testified {
  RedisLook look{};
  std::map<int, Promise> read{};
  std::set<int> dead{};
};

/// One process of the ensemble.
struct NodeModel {
  int life = 0;
  std::int64_t paused_until_ms = 0;
  double rate = 1.0;
  RedisModel* redis = nullptr;  // that it is connected to
  Authority authority{};
};

/// Something that runs by itself. What belongs to a process ends with it.
struct Thread {
  std::optional<Call<void>> body{};
  std::coroutine_handle<> at{};
  NodeModel* node = nullptr;
  int life = 0;
};

class World {
 public:
  World(std::uint64_t seed, Planted planted) : planted_(planted), random_(seed) {
    seats_ = Random(3) == 0 ? 2 : 1;
    rows_.resize(static_cast<std::size_t>(seats_));
    AddRedis({}, Between(-50'000, 50'000));
    nodes_.resize(2 + Random(2));
    targets_.assign(nodes_.size(), &redis_.front());
    no_redis_.assign(nodes_.size(), false);
    no_store_.assign(nodes_.size(), false);
    for (NodeModel& node : nodes_) node.rate = 1 + 0.02 * (2 * Unit() - 1);
    beliefs_.resize(static_cast<std::size_t>(seats_) + 1 + Random(2));
    for (std::size_t i = 0; i < nodes_.size(); ++i) Spawn(nullptr, Confirms(i));
    for (std::size_t i = 0; i < beliefs_.size(); ++i) Spawn(nullptr, Machine(static_cast<int>(i)));
    Spawn(nullptr, Nemesis(std::array{0.15, 0.4, 1.0}[Random(3)]));
  }

  void Run() {
    while (!queue_.empty() && violation_.empty()) {
      const Event event = queue_.top();
      queue_.pop();
      if (event.at_ms > 15 * kTtlMs) break;
      now_ms_ = event.at_ms;
      Thread& thread = *event.thread;
      if (thread.node && thread.node->life == thread.life &&
          thread.node->paused_until_ms > now_ms_) {
        Push(thread.node->paused_until_ms, thread);
        continue;
      }
      running_ = &thread;
      thread.at.resume();
      if (thread.body->handle().done())
        threads_.remove_if([&](const auto& each) { return each.get() == &thread; });
    }
  }

  const std::string& violation() const { return violation_; }
  std::int64_t grants() const { return grants_; }
  std::int64_t epochs() const { return epoch_.epoch; }

 private:
  // Time and chance.

  std::size_t Random(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }
  double Unit() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  std::int64_t Between(double from, double to) {
    return static_cast<std::int64_t>(from + (to - from) * Unit());
  }

  struct Event {
    std::int64_t at_ms = 0;
    std::int64_t order = 0;
    Thread* thread = nullptr;
    bool operator<(const Event& other) const {
      return std::tie(other.at_ms, other.order) < std::tie(at_ms, order);
    }
  };
  void Push(std::int64_t at_ms, Thread& thread) { queue_.push({at_ms, order_++, &thread}); }

  struct Delay {
    World& world;
    std::int64_t ms;
    bool await_ready() { return false; }
    void await_suspend(std::coroutine_handle<> at) {
      world.running_->at = at;
      world.Push(world.now_ms_ + std::max<std::int64_t>(ms, 0), *world.running_);
    }
    void await_resume() {
      const Thread& thread = *world.running_;
      if (thread.node && thread.node->life != thread.life) throw Gone();
    }
  };
  Delay Sleep(std::int64_t ms) { return {*this, ms}; }
  Delay Travel() { return Sleep(Unit() < 0.9 ? Between(0, 50) : Between(0, 1'500)); }

  void Spawn(NodeModel* node, Call<void> body) {
    auto thread = std::make_unique<Thread>();
    thread->body.emplace(Guarded(std::move(body)));
    thread->at = thread->body->handle();
    thread->node = node;
    thread->life = node ? node->life : 0;
    Push(now_ms_, *thread);
    threads_.push_back(std::move(thread));
  }
  static Call<void> Guarded(Call<void> body) {
    try {
      co_await body;
    } catch (const Gone&) {
    }
  }

  /// Runs in a process: it ends without an answer when that crashes, and stands still with it.
  class Inside {
   public:
    Inside(World& world, NodeModel& node) : thread_(*world.running_) {
      thread_.node = &node;
      thread_.life = node.life;
    }
    ~Inside() { thread_.node = nullptr; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

   private:
    Thread& thread_;
  };

  // The store. Each is one transaction; its clock is the world's.

  bool IsOverNow(const RowModel& row, bool is_dead) const {
    return IsOver(row.promise, epoch_, now_ms_, is_dead);
  }

  std::set<int> DeadBy(const Testified& testimony) const {
    std::set<int> dead;
    RedisLook look = testimony.look;
    if (planted_ == Planted::kJumpBelieved) look.redis_ms = look.read_ms + epoch_.offset_ms;
    if (!Counts(look, epoch_, now_ms_, kModelRules.tolerance_ms)) return dead;
    for (const auto& [index, read] : testimony.read) {
      const Promise& now = rows_[static_cast<std::size_t>(index)].promise;
      const bool counts =
          CountsFor(read, now) || (planted_ == Planted::kStaleTestimony && read.fence == now.fence);
      if (testimony.dead.contains(index) && counts) dead.insert(index);
    }
    return dead;
  }

  std::optional<Told> StoreAcquire(int machine, const Testified* testimony) {
    const std::set<int> dead = testimony ? DeadBy(*testimony) : std::set<int>();
    for (RowModel& row : rows_)
      if (row.machine == machine) {
        row.prior_ms = std::max({row.prior_ms, row.promise.expires_ms, row.promise.horizon_ms});
        return Give(row, machine);
      }
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (IsOverNow(rows_[i], dead.contains(static_cast<int>(i)))) {
        rows_[i].prior_ms = rows_[i].promise.horizon_ms = kLongAgo;
        return Give(rows_[i], machine);
      }
    return std::nullopt;
  }

  Told Give(RowModel& row, int machine) {
    ++grants_;
    row.machine = machine;
    row.promise.fence = ++fence_;
    row.promise.expires_ms = now_ms_ + kTtlMs;
    row.promise.horizon_ms = std::max(row.promise.horizon_ms, row.promise.expires_ms);
    return {static_cast<int>(&row - rows_.data()), row.promise.fence, row.promise.expires_ms};
  }

  /// By itself, or as an adoption into an epoch. Nothing: the holding is over.
  std::optional<std::int64_t> StoreBeat(const Told& seat, std::optional<std::int64_t> epoch) {
    RowModel& row = rows_[static_cast<std::size_t>(seat.row)];
    Promise& promise = row.promise;
    if (promise.fence != seat.fence || row.machine < 0) return std::nullopt;
    promise.expires_ms = now_ms_ + kTtlMs;
    const std::int64_t reach_ms = now_ms_ + (epoch ? kModelRules.horizon_ms : kTtlMs);
    promise.horizon_ms = !epoch && planted_ == Planted::kLowerHorizon
                             ? reach_ms
                             : std::max(promise.horizon_ms, reach_ms);
    if (epoch)
      promise.epoch = planted_ == Planted::kLowerEpoch ? *epoch : std::max(promise.epoch, *epoch);
    return promise.expires_ms;
  }

  void StoreRelease(const Told& seat) {
    RowModel& row = rows_[static_cast<std::size_t>(seat.row)];
    if (row.promise.fence != seat.fence || row.machine < 0) return;
    row.machine = -1;
    if (now_ms_ >= row.prior_ms || planted_ == Planted::kReleaseForgets)
      row.promise.expires_ms = row.promise.horizon_ms = now_ms_;
  }

  void StoreBump(const Bump& bump) {
    if (epoch_.epoch != bump.from || now_ms_ < epoch_.frozen_ms) return;
    const std::int64_t freeze_ms = planted_ == Planted::kNoFreeze ? 0
                                   : planted_ == Planted::kShortFreeze
                                       ? kTtlMs
                                       : FreezeMs(kModelRules, kTtlMs);
    epoch_ = {.epoch = bump.from + 1,
              .identity = bump.identity,
              .frozen_ms = std::max(epoch_.frozen_ms, now_ms_ + freeze_ms),
              .offset_ms = bump.offset_ms,
              .used_ms = epoch_.used_ms};
  }

  // Redis: what the scripts do.

  bool IsMeant(const RedisModel& redis, const std::string& identity) const {
    return redis.identity == identity || planted_ == Planted::kSameEpoch;
  }
  std::int64_t TimeOf(const RedisModel& redis) const { return now_ms_ + redis.offset_ms; }

  enum class Answer { kOther, kUnknown, kLate, kKept };
  struct Kept {
    Answer answer = Answer::kOther;
    std::int64_t until_ms = 0;  // by the store's clock
    bool half_gone = false;
  };
  Kept RedisBeat(RedisModel& redis, const Use& use, const Told& seat) {
    if (!IsMeant(redis, use.identity)) return {Answer::kOther};
    const std::int64_t now_ms = TimeOf(redis);
    const auto found = redis.records.find(seat.row);
    if (found == redis.records.end() || found->second.fence != seat.fence ||
        (found->second.epoch != use.epoch && planted_ != Planted::kOldRecord))
      return {Answer::kUnknown};
    RedisModel::Record& record = found->second;
    if (record.soft_ms <= now_ms && planted_ != Planted::kRedisRevives) return {Answer::kLate};
    record.soft_ms = planted_ == Planted::kNoHorizon
                         ? now_ms + kTtlMs
                         : std::max(record.soft_ms, std::min(now_ms + kTtlMs, record.horizon_ms));
    return {Answer::kKept, record.soft_ms - redis.offset_ms,
            record.horizon_ms - now_ms < kModelRules.horizon_ms / 2};
  }

  void RedisPut(RedisModel& redis, const Use& use, const Told& seat, std::int64_t horizon_ms,
                std::int64_t not_after_ms) {
    const std::int64_t now_ms = TimeOf(redis);
    if (!IsMeant(redis, use.identity) || (now_ms > not_after_ms && planted_ != Planted::kLatePut))
      return;
    RedisModel::Record record{seat.fence, use.epoch, std::min(now_ms + kTtlMs, horizon_ms),
                              horizon_ms};
    if (const auto found = redis.records.find(seat.row); found != redis.records.end()) {
      const RedisModel::Record& before = found->second;
      if (before.epoch > use.epoch || (before.epoch == use.epoch && before.fence > seat.fence))
        return;
      if (before.epoch == use.epoch) {
        record.soft_ms = std::max(record.soft_ms, before.soft_ms);
        record.horizon_ms = std::max(record.horizon_ms, before.horizon_ms);
      }
    }
    redis.records[seat.row] = record;
  }

  // What a process does. Each step of a call may be the last one.

  Call<void> AskRedis(std::size_t node, RedisModel* redis, std::function<void(RedisModel&)> act) {
    co_await Travel();
    if (!redis || !redis->alive || no_redis_[node]) throw Gone();
    act(*redis);
    co_await Travel();
    if (Unit() < 0.03 || !redis->alive || no_redis_[node]) throw Gone();
  }
  Call<void> AskStore(std::size_t node, std::function<void()> act) {
    co_await Travel();
    if (store_down_ || no_store_[node]) throw Gone();
    act();
    co_await Travel();
    if (Unit() < 0.02) throw Gone();
  }

  std::int64_t ClockOf(const NodeModel& node) const {
    return static_cast<std::int64_t>(static_cast<double>(now_ms_) * node.rate);
  }
  std::optional<Use> MayUse(const NodeModel& node) const {
    const Use* const use =
        node.authority.At(planted_ == Planted::kNoAuthority ? kLongAgo : ClockOf(node));
    return use && node.redis ? std::optional(*use) : std::nullopt;
  }

  Call<void> Confirms(std::size_t index) {
    while (true) {
      co_await Sleep(Between(0.2 * kModelRules.authority_ms, 0.4 * kModelRules.authority_ms));
      NodeModel& node = nodes_[index];
      try {
        const Inside inside(*this, node);
        co_await Confirm(index);
      } catch (const Gone&) {
      }
    }
  }

  Call<void> Confirm(std::size_t index) {
    NodeModel& node = nodes_[index];
    RedisModel* const redis = targets_[index];
    Confirmation seen;
    seen.asked_ms = ClockOf(node);
    co_await AskStore(index, [&] {
      seen.epoch = epoch_;
      seen.store_ms = now_ms_;
    });
    try {
      co_await AskRedis(index, redis, [&](RedisModel& of) {
        seen.redis = {of.identity, TimeOf(of)};
        if (planted_ == Planted::kSameEpoch && seen.epoch.identity)
          seen.redis->identity = *seen.epoch.identity;
      });
    } catch (const Gone&) {
      seen.redis.reset();
      node.redis = nullptr;
    }
    seen.heard_ms = ClockOf(node);
    const auto verdict = Conclude(kModelRules, seen);
    if (const auto* bump = std::get_if<Bump>(&verdict)) {
      co_await AskStore(index, [&] { StoreBump(*bump); });
    } else if (const auto* use = std::get_if<Use>(&verdict)) {
      node.redis = redis;
      node.authority.Take(*use);
      co_await AskStore(index, [&] { epoch_.used_ms = std::max(epoch_.used_ms, now_ms_); });
    }
  }

  /// The store first, then the Redis: no record stands for what the store does not know.
  Call<std::optional<std::int64_t>> Adopt(std::size_t index, Use use, Told seat) {
    RedisModel* const redis = nodes_[index].redis;
    std::int64_t asked_ms = 0;
    co_await AskRedis(index, redis, [&](RedisModel& of) { asked_ms = TimeOf(of); });
    std::optional<std::int64_t> until_ms;
    co_await AskStore(index, [&] { until_ms = StoreBeat(seat, use.epoch); });
    if (until_ms) Spawn(&nodes_[index], Put(index, redis, use, seat, asked_ms));
    co_return until_ms;
  }
  Call<void> AdoptForNobody(std::size_t index, Use use, Told seat) {
    co_await Adopt(index, std::move(use), seat);
  }
  Call<void> Put(std::size_t index, RedisModel* redis, Use use, Told seat, std::int64_t asked_ms) {
    if (Unit() < 0.1) co_await Sleep(Between(0, 2 * kTtlMs));
    co_await AskRedis(index, redis, [&](RedisModel& of) {
      RedisPut(of, use, seat, asked_ms + kModelRules.horizon_ms - kPutWindowMs,
               asked_ms + kPutWindowMs);
    });
  }

  /// Until when the seat is promised; nothing: it is lost.
  Call<std::optional<std::int64_t>> Beat(std::size_t index, Told seat) {
    NodeModel& node = nodes_[index];
    if (const auto use = MayUse(node)) try {
        Kept kept;
        co_await AskRedis(index, node.redis,
                          [&](RedisModel& of) { kept = RedisBeat(of, *use, seat); });
        const bool may_still = MayUse(node).has_value();
        if (kept.answer == Answer::kKept && may_still) {
          if (kept.half_gone) Spawn(&node, AdoptForNobody(index, *use, seat));
          co_return kept.until_ms;
        }
        if (kept.answer == Answer::kOther) node.redis = nullptr;
        if ((kept.answer == Answer::kUnknown || kept.answer == Answer::kLate) && may_still)
          co_return co_await Adopt(index, *use, seat);
      } catch (const Gone&) {
      }
    std::optional<std::int64_t> until_ms;
    co_await AskStore(index, [&] { until_ms = StoreBeat(seat, std::nullopt); });
    co_return until_ms;
  }

  Call<std::optional<Told>> Acquire(std::size_t index, int machine) {
    std::optional<Told> got;
    co_await AskStore(index, [&] { got = StoreAcquire(machine, nullptr); });
    if (got || !MayUse(nodes_[index])) co_return got;
    const auto testimony = co_await Look(index);
    if (!testimony) co_return got;
    co_await AskStore(index, [&] { got = StoreAcquire(machine, &*testimony); });
    co_return got;
  }

  Call<std::optional<Testified>> Look(std::size_t index) {
    NodeModel& node = nodes_[index];
    const Use use = *MayUse(node);
    Testified testimony;
    co_await AskStore(index, [&] {
      testimony.look = {.epoch = epoch_.epoch, .read_ms = now_ms_, .redis_ms = 0};
      for (std::size_t i = 0; i < rows_.size(); ++i)
        if (rows_[i].promise.expires_ms <= now_ms_ && !IsOverNow(rows_[i], false))
          testimony.read[static_cast<int>(i)] = rows_[i].promise;
    });
    if (testimony.look.epoch != use.epoch || testimony.read.empty()) co_return std::nullopt;
    std::set<int> absent;
    bool is_meant = false;
    co_await AskRedis(index, node.redis, [&](RedisModel& redis) {
      is_meant = IsMeant(redis, use.identity);
      testimony.look.redis_ms = TimeOf(redis);
      for (const auto& [row, read] : testimony.read) {
        const auto found = redis.records.find(row);
        if (found == redis.records.end() || found->second.epoch != use.epoch)
          (planted_ == Planted::kAbsentIsDead ? testimony.dead : absent).insert(row);
        else if (found->second.soft_ms + kModelRules.margin_ms <= TimeOf(redis))
          testimony.dead.insert(row);
      }
    });
    if (!is_meant) co_return std::nullopt;
    if (Unit() < 0.1) co_await Sleep(Between(0, 2 * kTtlMs));
    if (MayUse(node))
      for (const int row : absent)  // one more ttl, then it can testify
        Spawn(&node, AdoptForNobody(index, use, {row, testimony.read.at(row).fence, 0}));
    co_return testimony;
  }

  // Machines.

  Call<void> Machine(int machine) {
    while (true) {
      co_await Sleep(Between(0, kTtlMs));
      const std::size_t index = Random(nodes_.size());
      std::optional<Told> got;
      try {
        const Inside inside(*this, nodes_[index]);
        got = co_await Acquire(index, machine);
      } catch (const Gone&) {
        continue;
      }
      if (!got) continue;
      auto& own = beliefs_[static_cast<std::size_t>(machine)];
      std::erase_if(own, [&](const auto& each) { return each->until_ms <= now_ms_; });
      const auto seat = std::make_shared<Told>(*got);
      own.push_back(seat);
      Judge(fmt::format("machine {} is given a seat", machine));
      if (Unit() < 0.2)
        Spawn(nullptr, Hold(machine, seat));  // a second process, and this one goes on beside it
      else
        co_await Hold(machine, seat);
    }
  }

  Call<void> Hold(int machine, std::shared_ptr<Told> seat) {
    while (true) {
      co_await Sleep(Between(0.3 * kTtlMs, 0.7 * kTtlMs));
      const std::size_t index = Random(nodes_.size());
      if (Unit() < 0.1) {
        if (Unit() < 0.5) co_return;  // it dies, and nobody is told
        seat->until_ms = std::min(seat->until_ms, now_ms_);
        try {
          const Inside inside(*this, nodes_[index]);
          co_await AskStore(index, [&] { StoreRelease(*seat); });
        } catch (const Gone&) {
        }
        co_return;
      }
      std::optional<std::int64_t> until_ms;
      try {
        const Inside inside(*this, nodes_[index]);
        until_ms = co_await Beat(index, *seat);
      } catch (const Gone&) {
        if (now_ms_ > seat->until_ms + 2 * kTtlMs) co_return;
        continue;
      }
      if (!until_ms) {
        seat->until_ms = std::min(seat->until_ms, now_ms_);
        co_return;
      }
      seat->until_ms = std::max(seat->until_ms, *until_ms);
      Judge(fmt::format("machine {} is renewed", machine));
    }
  }

  void Judge(const std::string& what) {
    const auto believing = std::ranges::count_if(beliefs_, [&](const auto& own) {
      return std::ranges::any_of(own, [&](const auto& each) { return each->until_ms > now_ms_; });
    });
    if (believing > seats_ && violation_.empty())
      violation_ =
          fmt::format("K1: at {} {}, and {} believe in {} seats", now_ms_, what, believing, seats_);
  }

  // What goes wrong.

  RedisModel& AddRedis(RedisModel::Records records, std::int64_t offset_ms) {
    RedisModel& added = redis_.emplace_back();
    added.identity = fmt::format("r{}", redis_.size());
    added.offset_ms = offset_ms;
    added.records = std::move(records);
    added.copies.push_back(added.records);
    return added;
  }

  Call<void> Nemesis(double rage) {
    while (true) {
      co_await Sleep(
          static_cast<std::int64_t>(std::exponential_distribution<double>(rage)(random_) * kTtlMs));
      auto chosen = redis_.begin();
      std::advance(chosen, Random(redis_.size()));
      Strike(*chosen, Random(nodes_.size()), Random(16));
    }
  }

  void Strike(RedisModel& redis, std::size_t node, std::size_t what) {
    switch (what) {
      case 0:
        redis.alive = false;
        return;
      case 1:
        return redis.records.clear();
      case 2:
        return redis.copies.push_back(redis.records);
      case 3:
        return Replace(
            redis, [&](std::size_t i) { return targets_[i] == &redis; }, 0, true);
      case 4:  // some see the promoted one
        return Replace(
            redis, [&](std::size_t) { return Unit() < 0.6; }, Between(-5'000, 5'000), false);
      case 5:  // one is left with the old one, and without the store
        no_store_[node] = true;
        return Replace(
            redis, [&](std::size_t i) { return i != node; }, Between(-5'000, 5'000), false);
      case 6:
        no_redis_[node] = true;
        return;
      case 7:
        store_down_ = Unit() < 0.5;
        return;
      case 8:
        no_store_[node] = true;
        return;
      case 9:
      case 10: {
        const double jump = std::array{400.0, 2'000.0, 1.0 * kTtlMs, 2.0 * kTtlMs}[Random(4)];
        redis.offset_ms += static_cast<std::int64_t>(what == 9 ? jump : -0.2 * jump);
        return;
      }
      case 11:
        nodes_[node].paused_until_ms = now_ms_ + Between(0, 2.5 * kTtlMs);
        return;
      case 12:
        ++nodes_[node].life;
        nodes_[node].redis = nullptr;
        nodes_[node].authority.Drop();
        return;
      default:
        store_down_ = no_redis_[node] = no_store_[node] = false;
        for (RedisModel& each : redis_)
          if (each.alive) targets_[node] = &each;
    }
  }

  void Replace(RedisModel& redis, const std::function<bool(std::size_t)>& who,
               std::int64_t offset_ms, bool dies) {
    redis.copies.push_back(redis.records);
    RedisModel& added =
        AddRedis(redis.copies[Random(redis.copies.size())], redis.offset_ms + offset_ms);
    redis.copies.pop_back();
    if (dies) redis.alive = false;
    for (std::size_t i = 0; i < targets_.size(); ++i)
      if (who(i)) targets_[i] = &added;
  }

  const Planted planted_;
  std::mt19937_64 random_;
  std::int64_t now_ms_ = 0;
  std::int64_t order_ = 0;
  std::priority_queue<Event> queue_;
  Thread* running_ = nullptr;

  int seats_ = 1;
  RedisEpoch epoch_{.epoch = 1, .frozen_ms = kLongAgo, .used_ms = kLongAgo};
  std::vector<RowModel> rows_;
  std::int64_t fence_ = 0;
  bool store_down_ = false;

  std::list<RedisModel> redis_;
  std::vector<NodeModel> nodes_;
  std::vector<RedisModel*> targets_;
  std::vector<bool> no_redis_;
  std::vector<bool> no_store_;

  std::vector<std::vector<std::shared_ptr<Told>>> beliefs_;  // by machine
  std::string violation_;
  std::int64_t grants_ = 0;
  std::list<std::unique_ptr<Thread>> threads_;  // last: they refer to the rest
};

std::string ViolationOf(std::uint64_t seed, Planted planted) {
  World world(seed, planted);
  world.Run();
  return world.violation();
}

TEST(SeatRedisModel, K1_HoldsInEveryHistory) {
  const int histories = std::getenv("TENURE_TEST_LONG") ? 200'000 : 1'500;
  std::int64_t grants = 0;
  std::int64_t epochs = 0;
  for (int seed = 0; seed < histories; ++seed) {
    World world(static_cast<std::uint64_t>(seed), Planted::kNothing);
    world.Run();
    ASSERT_EQ(world.violation(), "") << "seed " << seed;
    grants += world.grants();
    epochs += world.epochs();
  }
  EXPECT_GT(grants, 3 * histories) << "the model does something";
  EXPECT_GT(epochs, 2 * histories);
}

struct PlantedCase {
  const char* name;
  Planted planted;
};
void PrintTo(const PlantedCase& mistake, std::ostream* out) { *out << mistake.name; }

class SeatRedisMistakes : public testing::TestWithParam<PlantedCase> {};

INSTANTIATE_TEST_SUITE_P(Planted, SeatRedisMistakes,
                         testing::Values(PlantedCase{"SameEpoch", Planted::kSameEpoch},
                                         PlantedCase{"NoFreeze", Planted::kNoFreeze},
                                         PlantedCase{"ShortFreeze", Planted::kShortFreeze},
                                         PlantedCase{"NoAuthority", Planted::kNoAuthority},
                                         PlantedCase{"OldRecord", Planted::kOldRecord},
                                         PlantedCase{"NoHorizon", Planted::kNoHorizon},
                                         PlantedCase{"LowerHorizon", Planted::kLowerHorizon},
                                         PlantedCase{"LowerEpoch", Planted::kLowerEpoch},
                                         PlantedCase{"StaleTestimony", Planted::kStaleTestimony},
                                         PlantedCase{"LatePut", Planted::kLatePut},
                                         PlantedCase{"JumpBelieved", Planted::kJumpBelieved},
                                         PlantedCase{"AbsentIsDead", Planted::kAbsentIsDead},
                                         PlantedCase{"RedisRevives", Planted::kRedisRevives},
                                         PlantedCase{"ReleaseForgets", Planted::kReleaseForgets}),
                         [](const auto& mistake) { return std::string(mistake.param.name); });

TEST_P(SeatRedisMistakes, IsFound) {
  const int most = 40'000;
  int seed = 0;
  while (seed < most && ViolationOf(static_cast<std::uint64_t>(seed), GetParam().planted).empty())
    ++seed;
  EXPECT_LT(seed, most) << "not found";
  std::cout << "found in history " << seed << "\n";
}

}  // namespace
}  // namespace tenure::seats
