// Leases over restores and steps of the clock: an older copy of the embedded store is put back while holders believe in
// what the store has forgotten, and the machine's clock is set, of which the store's watch tells. L2 and L3 hold; planted
// bugs are found.

#include <array>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/store_watch.hpp"
#include "client/leases/keeper.hpp"
#include "db/maintenance.hpp"
#include "sim/lease_run.hpp"

namespace tenure::sim {
namespace {

constexpr std::int64_t kRestoreTtlMs = 600;
constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kStepMs = 3'600'000;

/// One seed: three holders of one lease, and a server whose folder is copied and put back. The judge knows only what
/// holders were told: fences rise, and no two of them trust the lease at once.
/// A copy may be put back again and again, but with its side file only the first time: that its incarnation was used
/// before nobody can notice then, and the operator says so (docs/operating.md).
///
/// One lease of a day is on record: it freezes itself, and nobody else.
///
/// A step of the store's clock is told within two looks of the watch, and none is told that was none.
class RestoreRun final : public SeedRun {
 public:
  static constexpr std::size_t kProcesses = 1;
  static constexpr std::int64_t kFreezeMs = kRestoreTtlMs;
  /// What is wrong on purpose.
  enum class Planted {
    kNothing,
    kNoFreeze,        ///< a name is granted at once after a restore
    kOldIncarnation,  ///< nobody notices that the copy is older
    kSameAgain,       ///< a copy that is put back twice has one incarnation
    kLongestFreeze,   ///< the longest ttl of all freezes every name
    kNobodyWatches,   ///< a step of the clock leaves no word
  };

  RestoreRun(Ensemble& ensemble, std::uint64_t seed, Planted planted)
      : SeedRun(ensemble, seed, 60),
        planted_(planted),
        key_{fmt::format("t{}", ensemble.clock().WallMs()), "a"} {
    clock().Advance(2 * kDayMs);  // whatever an earlier seed froze, its lease of a day too
    Restart(0);                   // its watch knows nothing of earlier seeds
    first_incarnation_ = server().store.engine().incarnation();
    Begin({.crash = 2, .lost_reply = 3, .slow = 5, .slowest_commit_ms = 200});
    SetCalm(true);
    LeaseForADay();
    SetCalm(false);
  }

  std::map<std::string, std::int64_t> counts() const override {
    return {{"grants", grants_}, {"restores", restores_}};
  }

 private:
  struct Holder {
    base::Uuid term{};
    std::int64_t fence = 0;
    std::optional<client::Keeper> keeper{};
  };

  struct WatchedServer final : LeaseServer {
    explicit WatchedServer(Ensemble::Process& process)
        : LeaseServer(process),
          watch(store, tasks, *process.wake, "server", process.clock, process.metrics) {}
    ~WatchedServer() override { watch.Stop(); }

    app::StoreWatch watch;
  };

  std::unique_ptr<Server> Boot(Ensemble::Process& process) override {
    has_stepped_ = false;
    auto server = std::make_unique<WatchedServer>(process);
    if (planted_ != Planted::kNobodyWatches) server->watch.Start();
    return server;
  }
  WatchedServer& server() { return ensemble().ServerOf<WatchedServer>(0); }

  void Step() override {
    Pass(RandomMs(Chance(80) ? 40 : 400));
    const auto roll = Random(100);
    if (roll < 74)
      Act(holders_[Random(holders_.size())]);
    else if (roll < 82)
      MakeCopy();
    else if (roll < 88 && copied_incarnation_ > 0)
      PutBack();
    else if (roll < 94)
      SetClock(-RandomMs(5'000));
    else if (roll < 96)
      SetClock(kStepMs);
    CheckHeld();
    if (server().watch.Seen().step && !has_stepped_)
      Violation("a step of the clock is told, and there was none");
  }
  void Settle() override {
    Pass(10'000);
    CheckStepIsTold();
    for (Holder& holder : holders_) holder = {};
    Acquire(holders_[0]);
    if (!holders_[0].keeper) Violation("the lease cannot be had, though everybody is gone");
  }

  void CheckStepIsTold() {
    Drive(0);
    Pass(1'000);
    Drive(0);
    clock().StepWall(kStepMs);
    Pass(1'000);
    Drive(0);
    const auto step = server().watch.Seen().step;
    if (!step || step->boot_ms != Now()) Violation("nobody is told that the clock was set");
  }

  void LeaseForADay() {
    leases::AcquireCommand command;
    command.key = {key_.tenant, "day"};
    command.term = NewId();
    command.ttl_ms = kDayMs;
    command.received_boot_ms = Now();
    server().leases.Acquire(command, nullptr, [](const auto&) {});
    ensemble().Drive(0);
  }
  std::int64_t IncarnationNow() { return server().store.engine().incarnation(); }
  void MakeCopy() {
    Trace("a copy is made");
    ensemble().SaveCopy();
    copied_incarnation_ = IncarnationNow();
    was_put_back_ = false;
  }
  void PutBack() {
    const bool whole = !was_put_back_ && Chance(50);
    Trace(whole ? "the copy is put back" : "the copy's database is put back");
    SeedRun::PutBack(0, whole ? Ensemble::What::kFolder : Ensemble::What::kDatabase);
    ++restores_;
    if (planted_ == Planted::kNoFreeze) db::Thaw(server().store.engine());
    if (planted_ == Planted::kOldIncarnation) Change("store set incarnation = incarnation - 1");
    if (planted_ == Planted::kSameAgain)
      Change(fmt::format("store set incarnation = {}", copied_incarnation_ + 1));
    if (planted_ == Planted::kLongestFreeze)
      Change(fmt::format("leases set longest_ttl_ms = {}", kDayMs));
    was_put_back_ = true;
  }
  void Change(const std::string& what) {
    const auto maintenance = server().store.engine().BeginMaintenance();
    maintenance->Execute("update " + what);
    maintenance->Commit();
  }
  /// The store's clock never goes back. Forward it goes at once, and nobody promises anything about trust then.
  void SetClock(std::int64_t by_ms) {
    Trace(fmt::format("the clock is set by {} ms", by_ms));
    clock().StepWall(by_ms);
    if (by_ms <= 0) return;
    has_stepped_ = true;
    for (Holder& holder : holders_) holder = {};
  }

  void Act(Holder& holder) {
    if (!holder.keeper || holder.keeper->over() || holder.keeper->Expire(Now()))
      return Acquire(holder);
    const auto roll = Random(100);
    if (roll < 50)
      Renew(holder);
    else if (roll < 75)
      Release(holder);
    else if (roll < 85)
      holder = {};  // it crashes
  }

  void Acquire(Holder& holder) {
    holder = {.term = NewId()};
    leases::AcquireCommand command;
    command.key = key_;
    command.term = holder.term;
    command.ttl_ms = kRestoreTtlMs;
    command.received_boot_ms = Now();
    server().leases.Acquire(
        command, nullptr,
        Hear(0, [&holder, this, sent_ms = Now()](const db::Result<leases::AcquireOutcome>& result) {
          const auto* grant = result.ok() ? std::get_if<leases::Grant>(&result.value()) : nullptr;
          if (!grant) return;
          Trace(fmt::format("fence {} is granted", Relative(grant->fence)));
          ++grants_;
          if (grant->fence <= last_fence_)
            Violation(fmt::format("L2: fence {} after fence {}", Relative(grant->fence),
                                  Relative(last_fence_)));
          last_fence_ = grant->fence;
          holder.fence = grant->fence;
          holder.keeper.emplace(*grant, client::CallTimes{sent_ms, Now()},
                                leases::LeaseOptions{.ttl = leases::Milliseconds(kRestoreTtlMs)},
                                Random(UINT64_MAX));
        }));
    Drive(0);
  }
  void Renew(Holder& holder) {
    server().leases.Renew({{key_, holder.fence, holder.term, {}}}, nullptr,
                          Hear(0, [&holder, this, sent_ms = Now()](
                                      const db::Result<std::vector<leases::RenewOutcome>>& result) {
                            if (!result.ok()) return;
                            const leases::RenewOutcome& outcome = result.value().front();
                            if (const auto* grant = std::get_if<leases::Grant>(&outcome))
                              holder.keeper->Renewed(*grant, {sent_ms, Now()});
                            else
                              holder.keeper->Lose(std::get<leases::Loss>(outcome).reason, Now());
                          }));
    Drive(0);
  }
  /// Trust ends before the request goes out.
  void Release(Holder& holder) {
    holder.keeper->Release(Now());
    server().leases.Release({key_, holder.term, {}}, nullptr, Hear(0));
    Drive(0);
  }

  /// The same in each run, whatever ran before: "2 of incarnation +1".
  std::string Relative(std::int64_t fence) const {
    return fmt::format("{} of incarnation +{}", fence % (std::int64_t{1} << 40),
                       std::max<std::int64_t>(fence >> 40, 1) - first_incarnation_);
  }

  void CheckHeld() {
    int sure = 0;
    for (const Holder& holder : holders_)
      if (holder.keeper && !holder.keeper->over() && Now() < holder.keeper->valid_until_ms())
        ++sure;
    if (sure > 1) Violation("L3: two holders are sure that they hold the lease");
  }

  const Planted planted_;
  const leases::LeaseKey key_;
  std::array<Holder, 3> holders_;
  std::int64_t first_incarnation_ = 1;
  std::int64_t copied_incarnation_ = 0;  // of the copy; 0: there is none
  bool was_put_back_ = false;            // the copy was
  bool has_stepped_ = false;             // the clock, since the server began
  std::int64_t last_fence_ = 0;
  std::int64_t grants_ = 0;
  std::int64_t restores_ = 0;
};

TEST(SimulatedRestores, L2_L3_HoldInEveryHistoryAndStepsOfTheClockAreTold) {
  ExpectHolds<RestoreRun>({200, 100'000}, {{"grants", 3}, {"restores", 0.5}});
}

TEST(SimulatedRestores, ASeedReplaysExactly) { ExpectReplays<RestoreRun>(); }

TEST(SimulatedRestores, EveryPlantedBugIsFound) {
  using enum RestoreRun::Planted;
  ExpectFound<RestoreRun>(1'000, {{kNoFreeze, "L3"},
                                  {kOldIncarnation, "L2"},
                                  {kSameAgain, "L2"},
                                  {kLongestFreeze, "cannot be had, though everybody is gone"},
                                  {kNobodyWatches, "nobody is told that the clock was set"}});
}

}  // namespace
}  // namespace tenure::sim
