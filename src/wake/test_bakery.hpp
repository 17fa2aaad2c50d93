#pragma once

// For tests of the waiting room only.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "wake/waiting_room.hpp"

namespace tenure::wake {

/// A bakery: customers wait for loaves, of any kind that they like. The store decides a question,
/// and its answer arrives later, both when the test says so.
class Bakery : public WaitingRoom::Policy {
 public:
  static constexpr std::int64_t kLookMs = 1'000;
  static constexpr std::int64_t kWaitMs = 10'000;

  struct Likes {
    std::vector<std::string> kinds = {"rye"};
    std::int64_t wait_ms = kWaitMs;
    bool asks_last = false;
    std::string ticket{};
    base::Executor* home = nullptr;
  };

  class Customer final : public Waiter {
   public:
    Customer(Bakery& bakery, const Likes& likes)
        : Waiter({likes.kinds, likes.ticket, likes.home}),
          bakery_(bakery),
          asks_last_(likes.asks_last),
          deadline_boot_ms_(bakery.clock_.BootMs() + likes.wait_ms) {}

    void Ask(bool last, base::UniqueFunction<Answer> answered) override {
      EXPECT_FALSE(answered_) << "one question at a time";
      EXPECT_FALSE(outcome_ || gone_) << "nobody asks for one who is not here";
      ++questions_;
      last_ = last;
      answered_ = std::move(answered);
    }
    void Finish(const base::Fault* fault) override {
      EXPECT_FALSE(outcome_) << "one answer";
      EXPECT_FALSE(gone_) << "none for one who has gone";
      if (fault) {
        outcome_ = base::ToText(fault->kind());
        return;
      }
      if (loaf_.empty() && !failed_) {
        EXPECT_GE(bakery_.clock_.BootMs(), deadline_boot_ms_) << "not before the time is over";
        EXPECT_TRUE(!asks_last_ || last_) << "it asks once more";
      }
      outcome_ = failed_ ? "failed" : loaf_.empty() ? "empty" : loaf_;
    }
    void GiveBack() override {
      EXPECT_TRUE(gone_ || outcome_ == "stopping");
      if (!loaf_.empty()) {
        ++bakery_.stock_[loaf_];
        bakery_.registry_.SignalAll(loaf_);
      }
      loaf_.clear();
    }
    void Leave(base::Task left) override {
      ++left_;
      if (bakery_.door_is_stuck_)
        bakery_.leaving_.push_back(std::move(left));
      else
        left();
    }
    bool asks_last() const override { return asks_last_; }

    bool waits() const { return !outcome_ && !gone_; }

    Bakery& bakery_;
    const bool asks_last_;
    const std::int64_t deadline_boot_ms_;
    WaitingRoom::Id id_ = 0;
    base::UniqueFunction<Waiter::Answer> answered_;  // its question is under way
    std::optional<Waiter::Answer> decided_;
    bool last_ = false;
    bool failed_ = false;
    bool fail_next_ = false;
    int questions_ = 0;
    int left_ = 0;
    bool gone_ = false;
    std::string loaf_;
    std::optional<std::string> outcome_;
  };

  explicit Bakery(std::size_t max_keys = 100)
      : room_(registry_, clock_, *this, {.look_key = "look", .max_keys = max_keys}) {}

  std::shared_ptr<Customer> Enter(const Likes& likes) {
    auto customer = std::make_shared<Customer>(*this, likes);
    customers_.push_back(customer);
    customer->id_ = room_.Add(customer, likes.wait_ms);
    return customer;
  }
  std::shared_ptr<Customer> Enter() { return Enter(Likes()); }
  void Leave(Customer& customer) {
    if (!customer.outcome_) customer.gone_ = true;
    room_.Abandon(customer.id_);
  }

  /// A loaf is ready, and everybody is told; or nobody is (the signal was lost).
  void Bake(const std::string& kind, bool told = true) {
    ++stock_[kind];
    ++baked_;
    if (told)
      registry_.SignalAll(kind);
    else
      untold_ = true;
  }
  /// A stranger has the shelf locked, or lets it go, and tells nobody.
  void Lock(const std::string& kind, bool locked) {
    locked_[kind] = locked;
    untold_ = true;
  }

  /// The store answers the question that is under way, if one is.
  void Decide(Customer& customer) {
    if (!customer.answered_ || customer.decided_) return;
    Waiter::Answer& answer = customer.decided_.emplace();
    answer.look_in_ms = kLookMs;
    if (customer.fail_next_) {
      customer.failed_ = true;
      answer = {.kind = Waiter::Answer::Kind::kEnd, .ask_in_ms = 0};
      return;
    }
    for (const std::string& kind : customer.place().keys) {
      if (stock_[kind] == 0) continue;
      if (locked_[kind]) {
        answer.kind = Waiter::Answer::Kind::kLocked;
        continue;
      }
      --stock_[kind];
      customer.loaf_ = kind;
      answer = {.kind = Waiter::Answer::Kind::kEnd, .successors = 1};
      return;
    }
  }
  /// The answer arrives, if there is one.
  void Answer(Customer& customer) {
    if (!customer.decided_) return;
    const Waiter::Answer answer = *std::exchange(customer.decided_, std::nullopt);
    std::exchange(customer.answered_, {})(answer);
  }
  bool AnswerAll() {
    bool any = false;
    for (std::size_t i = 0; i < customers_.size(); ++i) {
      const auto customer = customers_[i];
      any |= static_cast<bool>(customer->answered_);
      Decide(*customer);
      Answer(*customer);
    }
    return any;
  }
  void RunDue() {
    while (registry_.RunDue() > 0) continue;
  }
  /// Everything that can happen now has happened.
  void Settle() {
    while (AnswerAll() || registry_.RunDue() > 0) continue;
  }
  void Pass(std::int64_t ms) {
    clock_.Advance(ms);
    Settle();
  }

  void Stop() {
    stopped_ = true;
    room_.Stop();
  }

  void Look(Poller::Cause, base::UniqueFunction<WaitingRoom::Found> done) override {
    ++looks_;
    WaitingRoom::Found found;
    for (const auto& [kind, first] : room_.Firsts())
      if (stock_[kind] > 0) found.keys.push_back(kind);
    if (!room_.Waiting().empty()) found.next.in_ms = kLookMs;
    done(std::move(found));
  }
  void Counted(std::int64_t waiting) override { waiting_ = waiting; }

  /// What must hold whenever everything has settled.
  void Check() {
    std::int64_t waiting = 0;
    for (const auto& customer : customers_) {
      EXPECT_FALSE(customer->answered_);
      if (!customer->waits()) continue;
      ++waiting;
      EXPECT_LT(clock_.BootMs(), customer->deadline_boot_ms_);
      for (const std::string& kind : customer->place().keys)
        EXPECT_TRUE(stock_[kind] == 0 || locked_[kind])
            << "the wake-up for " << kind << " was lost";
    }
    EXPECT_EQ(waiting_, waiting);
    EXPECT_TRUE(!stopped_ || waiting == 0);
  }
  /// The end: whoever is left is served or sent away, and everything is accounted for.
  void CheckEnd() {
    Settle();
    Check();
    Pass(kWaitMs);
    Check();
    EXPECT_EQ(waiting_, 0);
    int had = 0;
    for (const auto& customer : customers_) {
      EXPECT_NE(customer->gone_, customer->outcome_.has_value()) << "gone, or answered";
      if (customer->outcome_ == customer->loaf_) ++had;
    }
    for (const auto& [kind, count] : stock_) had += count;
    EXPECT_EQ(had, baked_) << "each loaf is on the shelf or with somebody who was told";
    registry_.Stop();
  }

  base::ManualClock clock_{0};
  Registry registry_{clock_};
  std::map<std::string, int> stock_;
  std::map<std::string, bool> locked_;
  int baked_ = 0;
  int looks_ = 0;
  std::int64_t waiting_ = 0;
  bool stopped_ = false;
  bool door_is_stuck_ = false;       // who leaves has not left until the test says so
  std::vector<base::Task> leaving_;  // of them: what is to be called then
  bool untold_ = false;              // something has happened of which nobody was told
  std::vector<std::shared_ptr<Customer>> customers_;
  WaitingRoom room_;
};

}  // namespace tenure::wake
