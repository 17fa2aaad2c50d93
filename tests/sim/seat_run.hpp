#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "seats/seats.hpp"
#include "sim/frame.hpp"
#include "sim/seat_book.hpp"

namespace tenure::sim {

struct SeatServer final : Server {
  explicit SeatServer(Ensemble::Process& process)
      : store(*process.store),
        seats(*process.store, *process.wake, process.name(),
              {.offer_ms = 3'000, .ticket_ms = 2'000, .line_max = 20}, process.clock,
              process.metrics) {}

  db::Store& store;
  seats::Seats seats;
};

/// One seed: clients on a few machines, two of them under one machine's id, a colleague who uses another's machine, an
/// operator, and a licence of a few seats at the processes of an ensemble; and a scheduler that decides at every step
/// who does what and what goes wrong.
///
/// Clients acquire, with and without a wait, send heartbeats alone and together, release, die and come back with or
/// without their memory, sleep past their deadlines, hang up while they wait, ask twice. Answers are late and lost.
/// Processes crash before and after any statement, commit slowly, lose the store before COMMIT and the reply after it;
/// no process is told of another's commits. The limit, the ttl and the licence's end are lowered and raised, it is
/// suspended, seats are revoked with and without force.
///
/// What is checked: every answer and every commit, and the log (seat_book.hpp); that an offer which was told is there
/// to be picked up; that nobody is denied while a seat is to be had; that all seats are had once everybody is gone.
class SeatRun : public SeedRun {
 public:
  static constexpr std::size_t kProcesses = 3;
  /// What is wrong on purpose.
  enum class Planted {
    kNothing,
    kGrantWhileDraining,  ///< with more rows than seats, nobody counts
    kDeadlineMovesBack,   ///< a heartbeat after a lowered ttl shortens what was told
    kRevivePastTheLine,   ///< a late heartbeat gets its seat back although somebody waits
    kOfferIsASignal,      ///< it is not kept for whoever it was made to
    kResumeByAnybody,     ///< nobody looks whose seat a machine has
    kPriorIsForgotten,    ///< a release does not wait for what a former process was told
    kExpiredWhenWritten,  ///< EXPIRED has the time of its writing
    kLookIsNotLowered,    ///< by a grant or an offer
    kLogInAnotherTransaction,
    kReviveInTheFreeze,  ///< of a restored store
    kNoFreeze,
  };

  SeatRun(Ensemble& ensemble, std::uint64_t seed, Planted planted);
  ~SeatRun() override;

  std::map<std::string, std::int64_t> counts() const override;

 protected:
  /// Older copies of the store are put back. REQUIRES: one process.
  bool restores_ = false;

 private:
  using Heard = SeatBook::Heard;
  static constexpr std::int64_t kTtlMs = 4'000;
  static constexpr std::int64_t kSlowestCommitMs = 400;
  /// One process of an application.
  struct Client {
    std::string machine{};
    std::string person{};
    int life = 0;  ///< rises with each death: what was asked before is not listened to
    std::optional<base::Uuid> session{};  ///< of the last holding that it knows of
    bool was_released = false;            ///< it asked for that, whatever became of it
    std::int64_t until_ms = 0;            ///< so long it believes
    std::optional<base::Uuid> ticket{};
    std::int64_t offered_until_ms = 0;  ///< on the store's clock; 0: it was told of no offer
  };
  struct Waiting {
    std::size_t process = 0;
    seats::Seats::RequestPtr request{};
    std::shared_ptr<bool> answered{};
  };
  struct Late {
    std::size_t client = 0;
    int life = 0;
    std::function<void(Client&)> listen{};
    std::function<void()> miss{};
  };

  // The scheduler.
  std::unique_ptr<Server> Boot(Ensemble::Process& process) override {
    return std::make_unique<SeatServer>(process);
  }
  void Step() override;
  void Settle() override;
  void OnCommitted() override;
  void OnAfter(std::string_view step) override;
  void OnCrash(std::size_t process) override;
  void Prepare();
  void Plant(const std::vector<std::string>& triggers);
  void Act(std::size_t process);
  void DriveOne(std::size_t process);
  void DriveEach();
  void CloseBooks();
  void MakeCopy();
  void PutCopyBack();

  // What clients do.
  void ActAs(std::size_t client, std::size_t process);
  void Acquire(std::size_t client, std::size_t process, std::int64_t wait_ms);
  void AfterAcquire(std::size_t client, std::int64_t sent_ms, std::size_t process,
                    const seats::AcquireOutcome& outcome);
  void Beat(const std::vector<std::size_t>& clients, std::size_t process);
  void AfterBeat(std::size_t client, const base::Uuid& session, std::int64_t sent_ms,
                 std::int64_t now_ms, const seats::HeartbeatOutcome& outcome);
  void Release(std::size_t client, std::size_t process);
  void Die(Client& client);
  void SeeTicket(std::size_t client, std::size_t process);
  void LeaveLine(std::size_t client, std::size_t process);
  void HangUpOne();
  bool Believes(const Client& client) const { return client.session && Now() < client.until_ms; }
  /// Now, or later; not at all when it is dead by then.
  void Tell(std::size_t client, std::function<void(Client&)> listen, std::function<void()> miss);
  /// A callback; an answer that was lost is missed.
  template <class Then>
  auto Listen(std::size_t process, Then then) {
    ++submitted_[process];
    return Hear(process, [this, then = std::move(then)](const auto& result) {
      if (!result.ok()) book_.Misses();
      then(result);
    });
  }

  // What operators do, and the background work.
  void Operate(std::size_t process);
  void Change(std::size_t process, seats::ChangeCommand command);
  void RevokeSeat(std::size_t process);
  void Tidy(std::size_t process);

  seats::Seats& seats(std::size_t process) {
    return ensemble().ServerOf<SeatServer>(process).seats;
  }
  seats::AcquireCommand CommandOf(const Client& client);
  std::vector<seats::LogEntry> ReadLog();
  /// The store's clock goes with the machine's, and does not go back.
  std::int64_t StoreNow() const;
  std::string NameOf(const base::Uuid& session);

  const Planted planted_;
  const bool has_tables_;
  SeatBook book_;
  base::Uuid license_{};
  std::string tenant_{};
  std::string key_hash_{};
  std::vector<Client> clients_;
  std::vector<Waiting> waiting_;
  std::vector<Late> late_;
  std::map<base::Uuid, std::string> names_;
  int commits_ = 0;
  int crashes_ = 0;
  bool hides_limit_ = false;  // from the rules
  std::int64_t limit_ = 0;    // the last one that is known to be in force
  std::int64_t copied_limit_ = 0;
  std::optional<std::int64_t> clock_gain_ms_{};  // of the store's clock over the machine's
  // Of the drive under way: who was denied although somebody could have had it.
  bool seat_is_to_be_had_ = false;
  std::array<int, kProcesses> submitted_{};  // since it was driven
  bool has_copy_ = false;
  std::int64_t restored_ = 0;
  std::int64_t revived_ = 0;
  std::int64_t offered_ = 0;
};

/// The same on one process, of whose store older copies are put back.
class RestoredSeatRun final : public SeatRun {
 public:
  static constexpr std::size_t kProcesses = 1;
  static constexpr std::int64_t kFreezeMs = 1'000;

  RestoredSeatRun(Ensemble& ensemble, std::uint64_t seed, Planted planted)
      : SeatRun(ensemble, seed, planted) {
    restores_ = true;
  }
};

}  // namespace tenure::sim
