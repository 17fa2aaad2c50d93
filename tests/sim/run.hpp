#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "holder/keeper.hpp"
#include "sim/book.hpp"
#include "sim/server.hpp"

namespace tenure::sim {

/// What is wrong on purpose.
enum class Planted {
  kNothing,
  kReleaseByAnybody,  ///< neither term nor fence is looked at by a release
  kFinishByAnybody,   ///< a task's run is completed by whoever says so
  kExpiredIsRenewed,  ///< a renewal that comes too late is accepted
  kEarlyClock,        ///< the store decides by the time at which a request came in
  kTrustFromReply,    ///< the holder counts from the answer instead of from the request
  kNoMargin,          ///< the holder trusts its lease to the end, by its own clock
};

/// One seed: three processes that want the same few leases and offer to run the same task, a
/// server, a network between them, an operator, and a scheduler that decides at every step who does
/// what and what goes wrong.
///
/// A process is what the library makes of it: a Keeper for each lease that it holds. Requests and
/// answers lie in a bag from which the scheduler takes any: so they are late, overtake each other,
/// come twice or never. A process crashes (nothing is left of it, it comes back with new terms), or
/// pauses for up to several ttls and goes on with whatever it was about: requests that it had sent
/// arrive, and answers that it had received, but not looked at, count from when it received them.
/// Connections break under requests that wait. The server crashes, commits slowly, loses its store
/// for a moment. Its clock gains on theirs, by less than the margin.
///
/// Everything is decided by the seed, on one virtual clock, by one thread: a seed gives the same
/// trace each time.
///
/// What is checked over the whole history: L1, L2, L4, T1 and fenced writes (book.hpp) on every
/// committed answer; L3 on every grant, on every answer that a holder acts upon, and by asking all
/// holders after every step; that those who wait are served in the order in which they came; and
/// that, once the faults stop, every name can be had and the task is complete.
class Run {
 public:
  struct Options {
    std::uint64_t seed = 0;
    Planted planted = Planted::kNothing;
    std::string tenant{};  ///< nobody else's on this server
    bool trace = false;
  };
  Run(Server& server, base::ManualClock& clock, Options options);
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// What was found to be wrong; empty when nothing was.
  std::string Execute();
  const std::string& trace() const { return trace_; }

  struct Counts {
    std::int64_t grants = 0;
    std::int64_t task_runs = 0;
  };
  Counts counts() const;

 private:
  struct Message {
    std::string label{};
    /// To whom; empty: to the server.
    std::optional<std::size_t> process{};
    int generation = 0;
    std::function<void(std::int64_t received_ms)> deliver{};
    std::optional<std::int64_t> received_ms{};  ///< it was received, and nobody looked at it yet
  };
  struct Process {
    int generation = 0;  ///< rises with each crash
    std::int64_t paused_until_ms = 0;
  };
  struct Name {
    leases::LeaseKey key{};
    std::int64_t ttl_ms = 0;
    LeaseBook book;
    std::optional<TaskBook> task{};
  };
  enum class State { kIdle, kAsking, kHolding };
  /// One process's interest in one name.
  struct Agent {
    std::size_t process = 0;
    std::size_t name = 0;
    State state = State::kIdle;
    base::Uuid term{};
    std::int64_t fence = 0;
    std::int64_t asked_ms = 0;  ///< when the last call went out
    bool renewing = false;
    std::optional<holder::Keeper> keeper{};
  };
  struct Waiting {
    std::size_t name = 0;
    std::size_t agent = 0;
    base::Uuid term{};
    std::uint64_t number = 0;  ///< in order of arrival at the server
    std::int64_t deadline_boot_ms = 0;
    leases::Waiters::Id id = 0;
    bool in_place = true;  ///< it was not served under its term, and did not leave the line
  };
  template <class T>
  using Result = db::Result<T>;

  // The scheduler (run.cpp).
  void Step();
  void DeliverOne();
  void DeliverAt(std::size_t index);
  void ActOne();
  void Pass(std::int64_t ms);
  void BeforeStoreStep(std::string_view step);
  void Crash(std::size_t process);
  void Pause(std::size_t process);
  void Resume(std::size_t process);
  void CrashServer();
  void BreakConnection();
  void Abandon(std::size_t waiting);
  void DriveServer();
  void CheckHeld();
  void Settle();
  void SettleLease(Name& name);
  void SettleTask(Name& name);
  void Tidy();

  // What a process does (holders.cpp).
  void Act(std::size_t index);
  void ActHolding(std::size_t index);
  void Hold(std::size_t index, const leases::Grant& grant, holder::Exchange exchange);
  void RenewDue(std::size_t process);
  void Finish(std::size_t index);
  void OnAcquired(std::size_t index, const base::Uuid& term, holder::Exchange exchange,
                  const Result<leases::AcquireOutcome>& result);
  void OnClaimed(std::size_t index, const base::Uuid& term, holder::Exchange exchange,
                 const Result<leases::ClaimOutcome>& result);
  void OnRenewed(std::size_t index, const base::Uuid& term, holder::Exchange exchange,
                 const leases::RenewOutcome* outcome);
  bool Held(const Agent& agent) const;
  std::int64_t TrustedForMs(const Agent& agent) const;
  void CheckTrust(const Agent& agent);
  holder::Exchange Count(holder::Exchange exchange) const;

  // What goes to the server, and what comes of it there (requests.cpp).
  void SendAcquire(std::size_t index);
  void SendClaim(std::size_t index);
  void SendRenew(const std::vector<std::size_t>& agents);
  void RenewAnyway(const Name& name, leases::RenewOutcome& outcome);
  void SendRelease(const Agent& agent);
  void SendFinish(const Agent& agent);
  void SendWrite(const Agent& agent);
  void SendBreak();
  void LoseThePlace(const base::Uuid& term);
  void Arrive(const leases::AcquireCommand& command, std::size_t index, int generation,
              std::int64_t sent_ms, std::int64_t wait_ms);
  void NoteAcquired(Name& name, const base::Uuid& term, std::uint64_t number,
                    const leases::AcquireOutcome& outcome);
  void NoteGrant(Name& name, const base::Uuid& term, const leases::Grant& grant,
                 std::uint64_t number);
  void ToServer(std::string label, std::function<void()> deliver);
  void ToProcess(std::size_t process, int generation, std::string label,
                 std::function<void(std::int64_t)> deliver);
  void Send(Message message);

  std::uint64_t Random(std::uint64_t bound) { return random_() % bound; }
  bool Chance(int percent) { return static_cast<int>(random_() % 100) < percent; }
  std::int64_t RandomMs(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most + 1));
  }
  base::Uuid NewTerm();
  std::int64_t Now() const { return clock_.BootMs(); }
  void Trace(const std::string& what);
  void Violation(const std::string& what);

  Server& server_;
  base::ManualClock& clock_;
  const Options options_;
  std::mt19937_64 random_;
  std::int64_t begun_ms_ = 0;

  // The weather of this seed.
  int lose_percent_ = 0;
  int double_percent_ = 0;
  int slow_percent_ = 0;
  int unavailable_percent_ = 0;
  std::int64_t gain_per_mille_ = 0;
  bool calm_ = false;  ///< the faults have stopped

  std::vector<Process> processes_;
  std::vector<Name> names_;
  std::vector<Agent> agents_;
  std::vector<Message> bag_;
  std::vector<Waiting> line_;
  std::uint64_t arrivals_ = 0;
  std::int64_t gained_micros_ = 0;
  bool slowed_ = false;      // once in a step is enough
  bool refreshing_ = false;  // the transaction under way keeps tickets alive
  std::string trace_;
  std::string violations_;
};

}  // namespace tenure::sim
