#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "seats/redis/redis_path.hpp"
#include "sim/frame.hpp"
#include "sim/ledger_redis.hpp"

namespace tenure::sim {

/// A process with seats whose heartbeats go by a Redis. Its threads are driven by hand.
class LedgerServer final : public Server {
 public:
  /// `looks_late`: a process that looks at its clock only when it begins with something.
  LedgerServer(Ensemble::Process& process, seats::RedisPath::Connections connections,
               const seats::RedisRules& rules, bool looks_late);

  bool RunSome() override;

  seats::Seats seats;

 private:
  class PathClock final : public base::Clock {
   public:
    explicit PathClock(const base::Clock& real) : real_(real) {}
    std::int64_t WallMs() const override { return real_.WallMs(); }
    std::int64_t BootMs() const override { return frozen_ms_.value_or(real_.BootMs()); }
    void Freeze() { frozen_ms_ = real_.BootMs(); }
    void Thaw() { frozen_ms_.reset(); }

   private:
    const base::Clock& real_;
    std::optional<std::int64_t> frozen_ms_;
  };

  const base::Clock& clock_;
  PathClock path_clock_;
  const bool looks_late_;
  bool is_busy_ = false;  // it waits for a Redis

 public:
  seats::RedisPath path;  // uses the rest
};

/// One seed: machines that share a licence of one or two seats, two processes whose heartbeats go by a Redis, and a
/// scheduler that decides at every step who does what and what goes wrong. `redis_path`, `redis_round` and all statements
/// are those of the program; a Redis is a model of its scripts.
///
/// A Redis is killed, flushed, comes back with older data, is replaced by a replica that some processes see and others
/// do not; it is cut off, questions and answers are lost, a question is carried out long after nobody listens any more;
/// its clock jumps. Processes sleep in the middle of a question past their authority, crash there and in the middle of a
/// transaction; the store is away for one of them, commits slowly, loses replies. Machines die, release, start twice,
/// sleep past their deadlines,
/// name their former session or do not; ttls change; seats are revoked.
///
/// What is checked: K1 as machines believe, whenever one is told something; and K2 at the end, when everybody is gone.
class LedgerRun final : public SeedRun {
 public:
  static constexpr std::size_t kProcesses = 2;
  using Planted = LedgerBug;

  LedgerRun(Ensemble& ensemble, std::uint64_t seed, Planted planted);
  ~LedgerRun() override;

  std::map<std::string, std::int64_t> counts() const override;

 private:
  static constexpr std::int64_t kTtlMs = 10'000;
  /// One process of an application.
  struct Holding {
    base::Uuid session{};
    std::int64_t until_ms = 0;  ///< so long it believes, on the store's clock
  };
  struct Machine {
    std::string name{};
    std::vector<Holding> holdings{};
    std::optional<base::Uuid> former{};  ///< of a process that died, and left its state file
    std::int64_t asleep_until_ms = 0;
  };
  struct Late {
    std::int64_t at_ms = 0;
    LedgerRedis* redis = nullptr;
    LedgerLink::Question question{};
  };

  // The scheduler.
  std::unique_ptr<Server> Boot(Ensemble::Process& process) override;
  void Step() override;
  void Settle() override;
  void OnBefore(std::string_view step) override;
  void Prepare();
  void Plant();
  void DriveOne(std::size_t process);
  void DriveAllOfThem();
  void NoteEpochOf(std::size_t process);
  void RunLate();

  // The network, and what goes wrong there.
  void Carry(std::size_t process, LedgerLink::Kind kind, const LedgerLink::Question& question);
  void Travel(std::size_t process, LedgerLink::Kind kind);
  void Sleep(std::size_t process, std::int64_t ms);
  std::int64_t TimeOf(const LedgerRedis& redis) const { return Wall() + redis.offset_ms; }
  LedgerRedis& NewRedis(LedgerRedis::Records records, std::int64_t offset_ms);
  void Replace(LedgerRedis& old, const std::function<bool(std::size_t)>& who, std::int64_t jump_ms);
  void Strike();
  void Heal();

  // What machines and operators do.
  void Act(std::size_t process);
  void Acquire(std::size_t machine, std::size_t process, bool names_former);
  void Beat(const std::vector<std::pair<std::size_t, base::Uuid>>& all, std::size_t process);
  void Release(std::size_t machine, std::size_t process);
  void Die(std::size_t machine);
  void Operate(std::size_t process);
  void Judge(const std::string& what);
  bool Believes(const Machine& machine) const;
  Holding* Find(std::size_t machine, const base::Uuid& session);
  std::string NameOf(const base::Uuid& session);

  std::int64_t Wall() const { return clock().WallMs(); }
  LedgerServer& server(std::size_t process) { return ensemble().ServerOf<LedgerServer>(process); }
  seats::Seats& seats(std::size_t process) { return server(process).seats; }

  const std::uint64_t seed_;
  const Planted planted_;
  // What a bug needs to be found by comes more often where it is planted, in percent.
  const int late_;      // of each question: it is carried out when nobody listens any more
  const int late_put_;  // the same of puts
  const int sleepy_;    // of each way
  const int sleepy_beat_;
  const int drowsy_;    // a machine
  const int faithful_;  // how often a machine asks the process that it asked before
  const std::vector<int> blows_;
  const seats::RedisRules rules_;
  base::Uuid license_{};
  std::string tenant_{};
  std::string key_hash_{};
  std::size_t limit_ = 1;
  std::vector<Machine> machines_;
  std::map<base::Uuid, std::string> names_;

  std::list<LedgerRedis> redis_;
  std::vector<LedgerRedis*> targets_;  // by process
  std::vector<bool> is_cut_;           // from its Redis
  std::vector<bool> is_storeless_;
  std::vector<Late> questions_;
  std::set<std::size_t> asleep_;
  std::optional<std::size_t> driven_;

  std::int64_t grants_ = 0;
};

}  // namespace tenure::sim
