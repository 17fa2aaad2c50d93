// The waiting machine in every order of events, in many at random, and with threads.

#include <atomic>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include "wake/test_bakery.hpp"

namespace tenure::wake {
namespace {

/// One way through a tree of choices after another, until all were taken.
class Choices {
 public:
  std::size_t Choose(std::size_t of) {
    if (depth_ == path_.size()) path_.push_back({0, of});
    return path_[depth_++].first;
  }
  bool Next() {
    depth_ = 0;
    while (!path_.empty() && ++path_.back().first == path_.back().second) path_.pop_back();
    return !path_.empty();
  }
  std::string Text() const {
    std::string text;
    for (const auto& [choice, of] : path_) text += std::to_string(choice) + ' ';
    return text;
  }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> path_;
  std::size_t depth_ = 0;
};

/// Something that can happen to a customer, or to everybody.
struct Event {
  void (*happen)(Bakery&, Bakery::Customer&);
  Bakery::Customer* to;
};
void Run(Bakery& bakery, Bakery::Customer&) { bakery.RunDue(); }
void Bake(Bakery& bakery, Bakery::Customer&) { bakery.Bake("rye"); }
void Decide(Bakery& bakery, Bakery::Customer& customer) { bakery.Decide(customer); }
void Answer(Bakery& bakery, Bakery::Customer& customer) { bakery.Answer(customer); }
void Leave(Bakery& bakery, Bakery::Customer& customer) { bakery.Leave(customer); }
void TimeIsOver(Bakery& bakery, Bakery::Customer&) { bakery.clock_.Advance(500); }
void Stop(Bakery& bakery, Bakery::Customer&) { bakery.Stop(); }

/// Two customers, two loaves, and what can happen next in each order. (There are hundreds of
/// thousands: an event is two words, and only the one that happens costs more.)
void RunOneOrder(Choices& choices, std::vector<Event>& can, bool asks_last, std::size_t steps) {
  Bakery bakery;
  const auto one = bakery.Enter({.wait_ms = 500, .asks_last = asks_last, .ticket = "7"});
  const auto two = bakery.Enter({.kinds = {"oat", "rye"}, .asks_last = asks_last});
  bool has_run = true;  // running twice changes nothing
  for (std::size_t step = 0; step < steps && !bakery.stopped_; ++step) {
    can.clear();
    if (!has_run) can.push_back({Run, one.get()});
    if (bakery.baked_ < 2) can.push_back({Bake, one.get()});
    for (Bakery::Customer* const customer : {one.get(), two.get()}) {
      if (customer->decided_)
        can.push_back({Answer, customer});
      else if (customer->answered_)
        can.push_back({Decide, customer});
      if (customer->waits()) can.push_back({Leave, customer});
    }
    if (one->waits()) can.push_back({TimeIsOver, one.get()});
    can.push_back({Stop, one.get()});
    const Event& next = can[choices.Choose(can.size())];
    has_run = next.happen == Run;
    next.happen(bakery, *next.to);
  }
  bakery.CheckEnd();
}

TEST(WaitingRoomOrders, EveryOrderOfSignalQuestionDeadlineAbandonAndStopIsRight) {
  for (const bool asks_last : {false, true}) {
    Choices choices;
    std::vector<Event> can;
    do {
      RunOneOrder(choices, can, asks_last, 6);
      ASSERT_FALSE(testing::Test::HasFailure()) << asks_last << ": " << choices.Text();
    } while (choices.Next());
  }
}

void RunSeed(unsigned seed) {
  std::mt19937 random(seed);
  const auto pick = [&](std::size_t of) { return static_cast<std::size_t>(random() % of); };
  Bakery bakery;
  const std::vector<std::string> kinds = {"rye", "oat", "spelt"};
  for (int step = 0; step < 120; ++step) {
    const std::string& kind = kinds[pick(kinds.size())];
    Bakery::Customer* const somebody =
        bakery.customers_.empty() ? nullptr
                                  : bakery.customers_[pick(bakery.customers_.size())].get();
    switch (pick(14)) {
      case 0:
      case 1: {
        Bakery::Likes likes{.kinds = {kind}, .wait_ms = static_cast<std::int64_t>(pick(3'000))};
        if (pick(2)) likes.kinds = kinds;
        likes.asks_last = pick(2);
        if (!pick(4)) likes.ticket = std::to_string(pick(3));
        bakery.Enter(likes);
        break;
      }
      case 2:
      case 3:
        bakery.Bake(kind);
        break;
      case 4:
        bakery.Bake(kind, false);
        break;
      case 5:
        bakery.Lock(kind, pick(2));
        break;
      case 6:
        bakery.clock_.Advance(static_cast<std::int64_t>(pick(700)));
        break;
      case 7:
        if (somebody && somebody->waits()) bakery.Leave(*somebody);
        break;
      case 8:
        if (somebody && somebody->waits()) somebody->fail_next_ = true;
        break;
      case 9:
        bakery.RunDue();
        break;
      case 10:
        if (!pick(10)) bakery.registry_.SignalEverybody();
        break;
      default:
        if (somebody) pick(2) ? bakery.Decide(*somebody) : bakery.Answer(*somebody);
    }
    if (pick(8)) continue;
    bakery.Settle();
    // What nobody was told of is found by the next look.
    if (std::exchange(bakery.untold_, false)) bakery.Pass(Bakery::kLookMs);
    bakery.Check();
  }
  if (pick(2)) bakery.Stop();
  for (const std::string& kind : kinds) bakery.Lock(kind, false);
  bakery.Settle();
  bakery.Pass(Bakery::kLookMs);
  bakery.CheckEnd();
}

TEST(WaitingRoomOrders, ManyAtRandom) {
  for (unsigned seed = 1; seed <= 3'000; ++seed) {
    RunSeed(seed);
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

/// Loaves that threads bake and customers of other threads eat.
class ThreadedBakery final : public WaitingRoom::Policy {
 public:
  class Customer final : public Waiter {
   public:
    explicit Customer(ThreadedBakery& bakery) : Waiter({{"rye"}}), bakery_(bakery) {}
    void Ask(bool, base::UniqueFunction<Answer> answered) override {
      int stock = bakery_.stock_;
      while (stock > 0 && !bakery_.stock_.compare_exchange_weak(stock, stock - 1)) continue;
      got_ = stock > 0;
      answered({.kind = got_ ? Answer::Kind::kEnd : Answer::Kind::kNotYet, .successors = 1});
    }
    void Finish(const base::Fault* fault) override {
      if (!fault && got_) ++bakery_.eaten_;
      ++bakery_.answered_;
    }
    void GiveBack() override {
      if (got_) bakery_.Bake();
    }

   private:
    ThreadedBakery& bakery_;
    bool got_ = false;
  };

  void Bake() {
    ++stock_;
    registry_.SignalAll("rye");
  }
  void Look(Poller::Cause, base::UniqueFunction<WaitingRoom::Found> done) override { done({}); }
  void Counted(std::int64_t) override {}

  std::atomic<int> stock_{0}, eaten_{0}, answered_{0};
  Registry registry_{base::SystemClock()};
  WaitingRoom room_{registry_, base::SystemClock(), *this, {.max_keys = 1}};
};

TEST(WaitingRoomThreads, EveryLoafIsEatenOnceAndNobodyWaitsWhileThereIsOne) {
  constexpr int kThreads = 4;
  constexpr int kEach = 500;
  ThreadedBakery bakery;
  bakery.registry_.Start();
  std::atomic<int> gone{0};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < kEach; ++i) {
          const auto id =
              bakery.room_.Add(std::make_shared<ThreadedBakery::Customer>(bakery), 3'600'000);
          if (i % 5 == 0) bakery.room_.Abandon(id);
        }
      });
      threads.emplace_back([&] {
        for (int i = 0; i < kEach / 2; ++i) bakery.Bake();
      });
    }
  }
  // There is less than is wanted, so it is all eaten: no time passes that could help.
  while (bakery.stock_ > 0 || bakery.eaten_ < kThreads * kEach / 2) std::this_thread::yield();
  bakery.room_.Stop();
  bakery.registry_.Stop();
  EXPECT_EQ(bakery.eaten_, kThreads * kEach / 2);
  EXPECT_LE(bakery.answered_, kThreads * kEach);
}

}  // namespace
}  // namespace tenure::wake
