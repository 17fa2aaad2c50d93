#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/leases/keeper.hpp"
#include "db/operation.hpp"
#include "leases/leases.hpp"
#include "sim/frame.hpp"
#include "sim/lease_book.hpp"
#include "tasks/tasks.hpp"

namespace tenure::sim {

/// A resource that a lease protects. The guard judges the fence in the write's own transaction;
/// there is nothing else to it, so an answer that is not a fault is an accepted write.
struct WriteRequest {};
struct WriteReply {};
class WriteHandler final : public db::TypedHandler<WriteRequest, WriteReply> {
 public:
  std::string_view name() const override { return "sim.write"; }

 protected:
  void WriteItems(db::Transaction& /*tx*/, Items items) override {
    for (auto* item : items) item->reply = WriteReply();
  }
};

/// The server of leases and tasks. One serves many seeds, each with a tenant of its own.
struct LeaseServer : Server {
  explicit LeaseServer(Ensemble::Process& process)
      : store(*process.store),
        leases(*process.store, *process.wake, "server", process.clock, process.metrics),
        tasks(*process.store, *process.wake, "server", process.clock, process.metrics) {}

  void Write(base::Fence fence, base::UniqueFunction<db::Result<WriteReply>> done);

  db::Store& store;
  WriteHandler write;
  leases::Leases leases;
  tasks::Tasks tasks;
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
/// What is checked over the whole history: L1, L2, L4, T1 and fenced writes (lease_book.hpp) on
/// every committed answer; L3 on every grant, on every answer that a holder acts upon, and by
/// asking all holders after every step; that those who wait are served in the order in which they
/// came; and that, once the faults stop, every name can be had and the task is complete.
class LeaseRun final : public SeedRun {
 public:
  static constexpr std::size_t kProcesses = 1;  ///< the server
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

  LeaseRun(Ensemble& ensemble, std::uint64_t seed, Planted planted);

  std::map<std::string, std::int64_t> counts() const override;

 private:
  static constexpr int kSteps = 75;
  static constexpr std::int64_t kTaskIntervalMs = 1'000;
  static constexpr std::int64_t kSlowestCommitMs = 400;
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
    std::optional<client::Keeper> keeper{};
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

  // The scheduler (lease_run.cpp).
  std::unique_ptr<Server> Boot(Ensemble::Process& process) override;
  void OnOpen(db::Store& store) override;
  void OnAfter(std::string_view step) override;
  bool MayBeLost() const override;
  void Pass(std::int64_t ms) override;
  void Step() override;
  void Settle() override;
  void DeliverOne();
  void DeliverAt(std::size_t index);
  void ActOne();
  void CrashHolder(std::size_t process);
  void Pause(std::size_t process);
  void Resume(std::size_t process);
  void CrashServer();
  void BreakConnection();
  void Abandon(std::size_t waiting);
  void DriveServer();
  void CheckHeld();
  void SettleLease(Name& name);
  void SettleTask(Name& name);
  void Tidy();

  // What a process does (lease_actors.cpp).
  void Act(std::size_t index);
  void ActHolding(std::size_t index);
  void Hold(std::size_t index, const leases::Grant& grant, client::CallTimes exchange);
  void RenewDue(std::size_t process);
  void Finish(std::size_t index);
  void OnAcquired(std::size_t index, const base::Uuid& term, client::CallTimes exchange,
                  const Result<leases::AcquireOutcome>& result);
  void OnClaimed(std::size_t index, const base::Uuid& term, client::CallTimes exchange,
                 const Result<leases::ClaimOutcome>& result);
  void OnRenewed(std::size_t index, const base::Uuid& term, client::CallTimes exchange,
                 const leases::RenewOutcome* outcome);
  bool Held(const Agent& agent) const;
  std::int64_t TrustedForMs(const Agent& agent) const;
  void CheckTrust(const Agent& agent);
  client::CallTimes Count(client::CallTimes exchange) const;

  // What goes to the server, and what comes of it there (lease_actors.cpp).
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

  LeaseServer& server() { return ensemble().ServerOf<LeaseServer>(0); }

  const Planted planted_;
  const std::string tenant_;  // nobody else's on this store

  // The weather of this seed.
  int lose_percent_ = 0;
  int double_percent_ = 0;
  std::int64_t gain_per_mille_ = 0;

  std::vector<Process> processes_;
  std::vector<Name> names_;
  std::vector<Agent> agents_;
  std::vector<Message> bag_;
  std::vector<Waiting> line_;
  std::map<base::Uuid, std::uint64_t> places_;  // when each term that waits came
  std::uint64_t arrivals_ = 0;
  std::int64_t gained_micros_ = 0;
  Instant at_;  // of the transaction under way, or the last, once it had the write lock
};

}  // namespace tenure::sim
