// K1 under real concurrency: many machines over three processes acquire, renew, release and let lapse
// the seats of one licence at the same time, on PostgreSQL; and time passes meanwhile.

#include <barrier>
#include <future>
#include <map>
#include <random>
#include <thread>

#include "seats/test_process.hpp"

namespace tenure::seats {
namespace {

constexpr int kProcesses = 3;
constexpr int kMachines = 16;
constexpr int kRounds = 60;
constexpr std::int64_t kSeats = 5;

class RacingProcess {
 public:
  RacingProcess(store::TestStore& store, const std::string& id)
      : store_(store.NewProcess(LanesOfAServer())),
        wake_(store.clock()),
        seats_(*store_, wake_, id, Rules(), store.clock(), store.metrics()) {
    store_->Start();
  }
  ~RacingProcess() { store_->Stop(); }

  AcquireOutcome Acquire(AcquireRequest request) {
    return std::get<AcquireOutcome>(Await<Seats::Acquired>(
        [&](auto done) { seats_.Acquire(std::move(request), nullptr, std::move(done)); }));
  }
  HeartbeatOutcome Heartbeat(const base::Uuid& session) {
    return Await<Seats::Heartbeats>([&](auto done) {
             seats_.Heartbeat({"default", "ann", {session}}, nullptr, std::move(done));
           })
        .outcomes.front();
  }
  bool Release(const base::Uuid& session) {
    return Await<ReleaseOutcome>([&](auto done) {
             seats_.Release({{}, "default", "ann", session}, nullptr, std::move(done));
           })
        .released;
  }

 private:
  template <class Reply, class Submit>
  static Reply Await(Submit submit) {
    std::promise<db::Result<Reply>> promise;
    auto future = promise.get_future();
    submit([&promise](db::Result<Reply> result) { promise.set_value(std::move(result)); });
    db::Result<Reply> result = future.get();
    if (!result.ok()) throw result.fault();
    return std::move(result.value());
  }

  std::unique_ptr<db::Store> store_;
  wake::Registry wake_;
  Seats seats_;
};

/// Replays a log by its own rules: how many hold at each grant. EXPIRED ends a holding at its time,
/// everything else at its place.
std::int64_t MostAtOnce(const std::vector<LogEntry>& entries) {
  std::map<base::Uuid, std::int64_t> expired_at;  // by session; the latest
  std::map<base::Uuid, std::int64_t> held;        // since when
  std::int64_t most = 0;
  for (const LogEntry& entry : entries)
    if (entry.kind == ToText(LogKind::kSeatExpired)) expired_at[*entry.session] = entry.at_ms;
  for (const LogEntry& entry : entries) {
    const bool begins =
        entry.kind == ToText(LogKind::kSeatAcquired) || entry.kind == ToText(LogKind::kSeatRevived);
    if (begins) {
      held[*entry.session] = entry.at_ms;
      std::int64_t now = 0;
      for (const auto& [session, since] : held) {
        const auto end = expired_at.find(session);
        const bool over =
            end != expired_at.end() && end->second > since && end->second <= entry.at_ms;
        now += over ? 0 : 1;
      }
      most = std::max(most, now);
    } else if (entry.session) {
      held.erase(*entry.session);
      if (entry.kind == ToText(LogKind::kSeatResumed)) held[*entry.session] = entry.at_ms;
    }
  }
  return most;
}

TEST(SeatsRace, K1_NeverMoreHoldersThanSeatsHoweverTheyRace) {
  store::TestStore store(store::EngineKind::kPostgres, sql::All());
  TestProcess looker(store, "looker");
  const base::Uuid license = looker.Create({.seats = kSeats, .ttl_ms = 2'000});
  std::vector<std::unique_ptr<RacingProcess>> processes;
  for (int i = 0; i < kProcesses; ++i)
    processes.push_back(std::make_unique<RacingProcess>(store, "p" + std::to_string(i)));
  std::vector<AcquireRequest> requests;
  for (int i = 0; i < kMachines; ++i)
    requests.push_back(looker.RequestOf("m" + std::to_string(i), {}));

  std::barrier round_over(kMachines, [&store]() noexcept { store.clock().Advance(300); });
  std::vector<std::jthread> threads;
  for (int machine = 0; machine < kMachines; ++machine)
    threads.emplace_back([&, machine] {
      std::mt19937 random(static_cast<unsigned>(machine));
      std::optional<base::Uuid> session;
      for (int round = 0; round < kRounds; ++round) {
        RacingProcess& process = *processes[random() % kProcesses];
        const auto choice = random() % 10;
        if (!session) {
          AcquireRequest request = requests[static_cast<std::size_t>(machine)];
          request.command.new_session = base::Uuid::V7(1'000 + round);
          const AcquireOutcome outcome = process.Acquire(std::move(request));
          if (const auto* grant = std::get_if<Grant>(&outcome)) session = grant->session;
        } else if (choice < 5) {
          if (!std::holds_alternative<Beat>(process.Heartbeat(*session))) session.reset();
        } else if (choice < 7) {
          process.Release(*session);
          session.reset();
        }  // or it is silent, and may lapse
        round_over.arrive_and_wait();
      }
    });
  threads.clear();

  std::vector<LogEntry> entries;
  std::int64_t from = 0;
  for (bool more = true; more;) {
    const auto page = looker.Call(looker.seats(), &Seats::ListLog,
                                  {.license = license, .from = from, .limit = 1'000});
    entries.insert(entries.end(), page.rows.begin(), page.rows.end());
    more = page.has_more;
    if (more) from = page.rows.back().seq + 1;
  }
  LogHash previous{};
  for (std::size_t i = 0; i < entries.size(); ++i) {
    ASSERT_EQ(entries[i].seq, static_cast<std::int64_t>(i) + 1);
    ASSERT_EQ(entries[i].hash, HashOf(previous, entries[i]));
    previous = entries[i].hash;
  }
  EXPECT_EQ(MostAtOnce(entries), kSeats) << "all are used, and never more";
}

}  // namespace
}  // namespace tenure::seats
