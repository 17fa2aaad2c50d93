// The rules of records with compare-and-swap on a simulated store: two machines of it that stamp,
// each with a clock of its own that is cut to seconds; requests that arrive late, replies that are
// lost; holders that die, and holders that pause. The judge knows the true time.

#include "client/cas/record.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <queue>
#include <random>

#include <gtest/gtest.h>

namespace tenure::client {
namespace {

using leases::AcquireRequest;
using leases::Milliseconds;

constexpr std::int64_t kSkewMs = 2'000;
constexpr std::int64_t kTtlMs = 5'000;

/// What a wrong implementation would do.
enum class Planted {
  kNothing,
  kNoSecondForTheCut,
  kNoSkew,
  kLossAt412,
  kForgottenDeadline,
  kDeleted
};

struct Belief {
  std::int64_t fence = 0;
  std::string term{};
  std::int64_t from_ms = 0;
  std::int64_t until_ms = 0;
};

/// One record, its version, and the two clocks.
struct SimStore {
  std::optional<CasRecord> record{};
  std::int64_t version = 0;
  std::int64_t stamp_s = 0;
  std::int64_t writer_ahead_ms = 0;
  std::int64_t reader_ahead_ms = 0;
};

class SimWorld {
 public:
  SimWorld(std::uint64_t seed, Planted planted) : random_(seed), planted_(planted) {
    // They differ by at most the skew that is allowed for.
    store_.writer_ahead_ms = 100'000 + Draw(kSkewMs);
    store_.reader_ahead_ms = 100'000 + Draw(kSkewMs);
    rules_ = CasRules(planted == Planted::kNoSkew              ? 0
                      : planted == Planted::kNoSecondForTheCut ? -1'000
                                                               : kSkewMs);
    if (planted == Planted::kNoSecondForTheCut) store_.reader_ahead_ms = store_.writer_ahead_ms;
    for (int i = 0; i < 6; ++i) At(Draw(2'000), [this, i] { Contend(i, 0); });
    At(20'000, [this] { Break(); });
    while (!events_.empty() && events_.top().at_ms < 120'000) {
      const Event event = events_.top();
      events_.pop();
      now_ms_ = event.at_ms;
      event.act();
    }
  }

  std::vector<Belief> beliefs;
  int own_losses = 0;  ///< of those who were told of a loss while nobody else had taken the name

  bool Overlaps() {
    std::ranges::sort(beliefs, {}, &Belief::from_ms);
    for (std::size_t i = 0; i < beliefs.size(); ++i)
      for (std::size_t j = i + 1; j < beliefs.size(); ++j) {
        if (beliefs[j].term == beliefs[i].term) continue;
        if (beliefs[j].from_ms < beliefs[i].until_ms) return true;
        if (beliefs[j].fence <= beliefs[i].fence) return true;
      }
    return false;
  }
  std::size_t Fences() const {
    std::map<std::int64_t, int> fences;
    for (const Belief& belief : beliefs) ++fences[belief.fence];
    return fences.size();
  }

 private:
  struct Event {
    std::int64_t at_ms;
    std::int64_t order;
    std::function<void()> act;
    bool operator<(const Event& other) const {
      return std::pair(at_ms, order) > std::pair(other.at_ms, other.order);
    }
  };
  /// What a process holds: its record, the version that it wrote, when that was sent.
  struct Own {
    CasRecord record{};
    std::int64_t version = 0;
    std::int64_t sent_ms = 0;
  };

  std::int64_t Draw(std::int64_t most) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most + 1));
  }
  bool Chance(int percent) { return Draw(99) < percent; }
  void At(std::int64_t at_ms, std::function<void()> act) {
    events_.push({at_ms, ++order_, std::move(act)});
  }
  void After(std::int64_t ms, std::function<void()> act) { At(now_ms_ + ms, std::move(act)); }
  /// One way through the network; now and then for longer than a ttl.
  std::int64_t Way() { return Chance(4) ? Draw(8'000) : 1 + Draw(30); }

  CasSight Read() const {
    return {store_.record, store_.stamp_s, (now_ms_ + store_.reader_ahead_ms) / 1'000};
  }
  /// Whether the version is still the one that was seen.
  bool Write(const CasRecord& record, std::int64_t seen) {
    if (store_.version != seen) return false;
    store_.record = record;
    if (planted_ == Planted::kDeleted && record.state == leases::LeaseState::kFree)
      store_.record.reset();
    if (planted_ == Planted::kForgottenDeadline && record.state == leases::LeaseState::kBroken)
      store_.record->free_at_s = 0;
    ++store_.version;
    store_.stamp_s = (now_ms_ + store_.writer_ahead_ms) / 1'000;
    return true;
  }
  AcquireRequest RequestOf(int who, int life) const {
    return {.name = "a",
            .term = std::to_string(who) + "/" + std::to_string(life),
            .ttl = Milliseconds(kTtlMs)};
  }

  void Contend(int who, int life) {
    After(Way(), [=, this] {
      const CasSight sight = Read();
      const std::int64_t seen = store_.version;
      After(Way(), [=, this] {
        const auto step = rules_.Acquire(sight, RequestOf(who, life));
        if (std::holds_alternative<leases::TermEnded>(step)) return Contend(who, life + 1);
        const auto* record = std::get_if<CasRecord>(&step);
        if (!record) return After(500 + Draw(1'000), [=, this] { Contend(who, life); });
        Send(who, life, *record, seen);
      });
    });
  }

  /// A grant, or a renewal of one's own.
  void Send(int who, int life, const CasRecord& record, std::int64_t seen) {
    const std::int64_t sent_ms = now_ms_;
    After(Way(), [=, this] {
      const bool done = Write(record, seen);
      const Own own{record, store_.version, sent_ms};
      if (Chance(5)) return After(Draw(300), [=, this] { LookAgain(who, life, record); });
      After(Way(), [=, this] { done ? Hold(who, life, own) : LookAgain(who, life, record); });
    });
  }

  void LookAgain(int who, int life, const CasRecord& mine) {
    if (planted_ == Planted::kLossAt412) {
      if (store_.record && store_.record->fence == mine.fence) ++own_losses;
      return Contend(who, life + 1);
    }
    Contend(who, life);  // with its own term: the same grant, or another's
  }

  void Hold(int who, int life, const Own& own) {
    const std::int64_t until_ms = own.sent_ms + kTtlMs * 9 / 10;
    if (now_ms_ < until_ms)
      beliefs.push_back({own.record.fence, own.record.term, now_ms_, until_ms});
    if (Chance(15)) return After(10'000, [=, this] { Contend(who, life + 1); });  // it died
    if (Chance(10)) return After(1 + Draw(500), [=, this] { Release(who, life, own); });
    const std::int64_t pause_ms = Chance(15) ? 6'000 + Draw(6'000) : kTtlMs / 3;
    After(pause_ms, [=, this] {
      // R4: whose own clock says that it is over reads first.
      if (now_ms_ - own.sent_ms >= kTtlMs) return Contend(who, life);
      Send(who, life, CasRules::RenewOwn(own.record, {}), own.version);
    });
  }

  void Release(int who, int life, const Own& own) {
    for (Belief& one : beliefs)
      if (one.term == own.record.term) one.until_ms = std::min(one.until_ms, now_ms_);
    After(Way(), [=, this] {
      const auto step = rules_.Release(Read(), {.name = "a", .term = own.record.term});
      if (const auto* record = std::get_if<CasRecord>(&step)) Write(*record, store_.version);
      Contend(who, life + 1);
    });
  }

  void Break() {
    After(10'000 + Draw(5'000), [this] { Break(); });
    if (!store_.record) return;
    const auto step = rules_.Break(Read(), {.name = "a", .reason = "x"});
    if (step.write) Write(*step.write, store_.version);
  }

  std::mt19937_64 random_;
  const Planted planted_;
  CasRules rules_{kSkewMs};
  SimStore store_;
  std::int64_t now_ms_ = 0;
  std::int64_t order_ = 0;
  std::priority_queue<Event> events_;
};

TEST(CasRecords, NoTwoBelieveAtOnceAndFencesRise) {  // L1, L2, L3
  const std::uint64_t seeds = std::getenv("TENURE_TEST_LONG") ? 20'000 : 200;
  std::size_t fences = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    SimWorld world(seed, Planted::kNothing);
    ASSERT_FALSE(world.Overlaps()) << "seed " << seed;
    fences += world.Fences();
  }
  EXPECT_GT(fences, 3 * seeds);
}

class PlantedCas : public testing::TestWithParam<Planted> {};
INSTANTIATE_TEST_SUITE_P(Mistakes, PlantedCas,
                         testing::Values(Planted::kNoSecondForTheCut, Planted::kNoSkew,
                                         Planted::kLossAt412, Planted::kForgottenDeadline,
                                         Planted::kDeleted));
TEST_P(PlantedCas, IsFound) {
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    SimWorld world(seed, GetParam());
    if (world.Overlaps() || world.own_losses > 0) return;
  }
  FAIL() << "nobody noticed";
}

}  // namespace
}  // namespace tenure::client
