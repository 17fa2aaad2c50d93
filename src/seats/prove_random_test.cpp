// Random histories of a ledger that keeps the limit, written as a ledger writes them, and what must
// be found when it does not. The number held is counted here from intervals of time, by brute
// force, and not by the prover's way.

#include <gtest/gtest.h>

#include "seats/test_log.hpp"

namespace tenure::seats {
namespace {

using test::Prove;
using test::WrittenLog;

/// A ledger in memory: seats are slots, a deadline passes unseen until somebody writes it down.
class RandomLedger {
 public:
  explicit RandomLedger(std::uint64_t seed, bool keeps_limit = true)
      : random_(seed), keeps_limit_(keeps_limit) {
    limit_ = Draw(1, 5);
    log.Created(now_ms_, limit_);
    Fit();
  }

  void Step() {
    now_ms_ += Draw(0, 40);
    switch (Draw(0, 9)) {
      case 0:
      case 1:
      case 2:
        return Acquire();
      case 3:
        return Heartbeat();
      case 4:
        return Release();
      case 5:
        return Revoke();
      case 6:
        return Resume();
      case 7:
        return WriteExpiry();
      case 8:
        return Revive();
      case 9:
        if (Draw(0, 4) == 0) ChangeLimit();
        return;
    }
  }

  /// The most that were held at an instant, from the intervals.
  int Highest() const {
    int highest = 0;
    for (const Span& one : spans_) {
      int held = 0;
      for (const Span& other : spans_)
        if (other.order <= one.order && other.start_ms <= one.start_ms &&
            (other.end_order > one.order && other.end_ms > one.start_ms))
          ++held;
      highest = std::max(highest, held);
    }
    return highest;
  }

  WrittenLog log;
  int broken = 0;  ///< grants over the limit

 private:
  struct Slot {
    int session = 0;  // 0: free
    std::int64_t expires_ms = 0;
    bool revoked = false;
    bool written = true;  // its end is in the log, or there is none
    int last_lapsed = 0;  // what could be revived
    std::size_t span = 0;
  };
  /// A holding by time; ends that are not deadlines are ordered by their place among grants.
  struct Span {
    std::int64_t start_ms = 0;
    std::size_t order = 0;
    std::int64_t end_ms = std::numeric_limits<std::int64_t>::max();
    std::size_t end_order = std::numeric_limits<std::size_t>::max();
  };

  int Draw(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
  bool Live(const Slot& slot) const { return slot.session != 0 && slot.expires_ms > now_ms_; }
  int Rows() const { return static_cast<int>(slots_.size()); }

  /// As many slots as the limit, of those that nobody holds.
  void Fit() {
    while (Rows() < limit_) slots_.emplace(++last_slot_, Slot{});
    for (auto at = slots_.begin(); at != slots_.end() && Rows() > limit_;) {
      if (Live(at->second)) {
        ++at;
        continue;
      }
      Write(at->first, at->second);
      at = slots_.erase(at);
    }
  }
  void Write(int number, Slot& slot) {
    if (slot.session == 0 || slot.expires_ms > now_ms_) return;
    log.Expired(slot.expires_ms, number, slot.session);
    spans_[slot.span].end_ms = slot.expires_ms;
    slot.last_lapsed = slot.revoked ? 0 : slot.session;
    slot.session = 0;
  }
  void Start(Slot& slot, int session) {
    const std::int64_t until_ms = now_ms_ + Draw(1, 120);
    slot = {.session = session, .expires_ms = until_ms, .span = spans_.size()};
    spans_.push_back({.start_ms = now_ms_, .order = ++order_});
  }
  bool MayGrant() {
    if (!keeps_limit_ && Draw(0, 3) == 0) {
      int live = 0;
      for (const auto& [number, slot] : slots_) live += Live(slot) ? 1 : 0;
      if (live >= limit_) ++broken;
      slots_.emplace(++last_slot_, Slot{});
      return true;
    }
    return Rows() <= limit_;
  }
  void Acquire() {
    if (!MayGrant()) return;
    for (auto& [number, slot] : slots_) {
      if (Live(slot)) continue;
      Write(number, slot);
      log.Acquired(now_ms_, number, ++session_);
      return Start(slot, session_);
    }
  }
  template <class Do>
  void WithOne(bool live, const Do& what) {
    for (auto& [number, slot] : slots_)
      if (slot.session != 0 && Live(slot) == live && Draw(0, 1) == 0) return what(number, slot);
  }
  void Heartbeat() {
    WithOne(true, [this](int, Slot& slot) {
      if (!slot.revoked) slot.expires_ms = std::max(slot.expires_ms, now_ms_ + Draw(1, 120));
    });
  }
  void End(Slot& slot) {
    spans_[slot.span].end_ms = now_ms_ + 1;  // at its place
    spans_[slot.span].end_order = ++order_;
    slot.session = 0;
    slot.last_lapsed = 0;
  }
  void Release() {
    WithOne(true, [this](int number, Slot& slot) {
      log.Released(now_ms_, number, slot.session);
      End(slot);
    });
    Fit();
  }
  void Revoke() {
    WithOne(true, [this](int number, Slot& slot) {
      if (slot.revoked) return;
      const bool force = Draw(0, 1) == 0;
      log.Revoked(now_ms_, number, slot.session, force);
      slot.revoked = true;
      if (force) End(slot);
    });
    Fit();
  }
  void Resume() {
    WithOne(true, [this](int number, Slot& slot) {
      if (slot.revoked) return;
      log.Resumed(now_ms_, number, slot.session, session_ + 1);
      slot.session = ++session_;
      slot.expires_ms = std::max(slot.expires_ms, now_ms_ + Draw(1, 120));
    });
  }
  void WriteExpiry() {
    WithOne(false, [this](int number, Slot& slot) { Write(number, slot); });
  }
  void Revive() {
    if (Rows() > limit_) return;
    WithOne(false, [this](int number, Slot& slot) {
      Write(number, slot);
      if (slot.last_lapsed == 0) return;
      const int session = slot.last_lapsed;
      log.Revived(now_ms_, number, session);
      Start(slot, session);
    });
  }
  void ChangeLimit() {
    const int from = std::exchange(limit_, Draw(1, 5));
    log.Limit(now_ms_, from, limit_);
    Fit();
  }

  std::mt19937_64 random_;
  const bool keeps_limit_;
  std::int64_t now_ms_ = 1'000;
  int limit_ = 0;
  int session_ = 0;
  int last_slot_ = 0;
  std::map<int, Slot> slots_;
  std::vector<Span> spans_;
  std::size_t order_ = 0;
};

std::string FindingsOf(const Proof& proof) {
  std::string text;
  for (const Finding& finding : proof.findings.first)
    text += fmt::format("{}: {}\n", finding.seq, finding.text);
  return text;
}

TEST(ProveRandom, EveryHonestHistoryIsProvenAndHasTheSameMaximum) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    RandomLedger ledger(seed);
    for (int i = 0; i < 150; ++i) ledger.Step();
    const Proof proof = Prove(ledger.log);
    ASSERT_TRUE(proof.proven()) << "seed " << seed << "\n" << FindingsOf(proof);
    ASSERT_EQ(proof.highest, ledger.Highest()) << "seed " << seed;
  }
}

TEST(ProveRandom, ALedgerThatGivesTooManyIsFoundWheneverItDid) {
  int broke = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    RandomLedger ledger(seed, false);
    for (int i = 0; i < 60; ++i) ledger.Step();
    if (ledger.broken == 0) continue;
    ++broke;
    ASSERT_FALSE(Prove(ledger.log).proven()) << "seed " << seed;
  }
  EXPECT_GT(broke, 50);
}

/// One change of any byte of any entry, one entry less, two exchanged: never proven, and the entry
/// is named.
TEST(ProveRandom, EveryTamperingOfARandomLogIsFoundAndNamed) {
  std::mt19937_64 random(7);
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    RandomLedger ledger(seed);
    for (int i = 0; i < 60; ++i) ledger.Step();
    WrittenLog& log = ledger.log;
    log.Seal();
    std::vector<LogEntry> entries = log.entries;
    const std::size_t at = random() % (entries.size() - 1);
    switch (random() % 5) {
      case 0:
        entries[at].at_ms += static_cast<std::int64_t>(random() % 1'000) + 1;
        break;
      case 1:
        entries[at].hash[random() % 32] ^= static_cast<std::uint8_t>(1 + random() % 255);
        break;
      case 2:
        entries[at].detail = R"({"seats":9})" + std::string(random() % 3 + 1, ' ');
        break;
      case 3:
        entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 4:
        std::swap(entries[at], entries[at + 1]);
        break;
    }
    const Proof proof = Prove(entries, log.license, log.Head());
    ASSERT_EQ(proof.findings.count, 1) << "seed " << seed << "\n" << FindingsOf(proof);
    ASSERT_EQ(proof.findings.first[0].seq, static_cast<std::int64_t>(at) + 1) << "seed " << seed;
  }
}

}  // namespace
}  // namespace tenure::seats
