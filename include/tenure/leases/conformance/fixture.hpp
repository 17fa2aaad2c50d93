#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "tenure/leases/provider.hpp"

/// What the tests of the suite share; conformance.hpp is what to include.
namespace tenure::leases::conformance {

struct Subject {
  std::string name{};
  /// A provider of the same store in each call.
  std::function<std::unique_ptr<Provider>()> open{};
  /// Lets at least that much time pass in the store; on a real store it really waits.
  std::function<void(Milliseconds)> advance{};
  /// Of the leases that are let expire. Long enough for a few calls in a row.
  Milliseconds short_ttl{400};
  /// How much longer than its ttl a dead holder's lease may stand (`Guarantees::takeover_delay`, and
  /// what is lost in rounding). `Expire` waits for it too.
  Milliseconds expiry_slack{50};
  /// Kills the store without warning and starts it again on what it kept; with what it did not
  /// keep gone. Empty: this store is not killed here.
  std::function<void()> kill{};
  /// Makes the store forget everything, as an operator could. Empty: it is not done here.
  std::function<void()> forget{};
  /// The only tests for this store, by name; empty: all. For one that can do no more.
  std::set<std::string> only{};
};
inline void PrintTo(const Subject& subject, std::ostream* out) { *out << subject.name; }

class LeaseConformance : public ::testing::TestWithParam<Subject> {
 protected:
  static constexpr Milliseconds kTimeout{10'000};
  static constexpr Milliseconds kLong{60'000};

  void SetUp() override {
    const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    if (!GetParam().only.empty() && !GetParam().only.contains(test.substr(0, test.find('/'))))
      GTEST_SKIP() << "not for this store";
    provider_ = GetParam().open();
    connection_ = provider_->Connect();
  }

  Guarantees guarantees() const { return provider_->guarantees(); }
  Connection& connection() { return *connection_; }
  std::unique_ptr<Connection> Another() { return provider_->Connect(); }
  Milliseconds short_ttl() const { return GetParam().short_ttl; }
  /// Lets a lease with the short ttl expire.
  void Expire() { GetParam().advance(short_ttl() + GetParam().expiry_slack); }

  AcquireOutcome Ask(const std::string& term, Milliseconds ttl = kLong) {
    return connection().Acquire({.name = name_, .term = term, .ttl = ttl, .holder = "h-" + term},
                                kTimeout);
  }
  /// The same until the store answers: it may have been killed.
  AcquireOutcome AskUntilAnswered(const std::string& term, Milliseconds ttl = kLong) {
    for (int i = 0; i < 500; ++i) {
      try {
        return Ask(term, ttl);
      } catch (const ProviderUnavailable&) {
        connection_ = provider_->Connect();
        std::this_thread::sleep_for(Milliseconds(20));
      }
    }
    throw std::logic_error("the store did not come back");
  }
  /// REQUIRES: it is granted.
  Grant Take(const std::string& term, Milliseconds ttl = kLong) {
    AcquireOutcome outcome = Ask(term, ttl);
    if (auto* grant = std::get_if<Grant>(&outcome)) return *grant;
    throw std::logic_error("the lease was not granted");
  }
  RenewOutcome Renew(const Grant& grant, std::optional<Milliseconds> ttl = std::nullopt) {
    const RenewRequest request{
        .name = grant.name, .fence = grant.fence, .term = grant.term, .ttl = ttl};
    return connection().Renew({&request, 1}, kTimeout).at(0);
  }
  ReleaseOutcome Release(const Grant& grant) {
    return connection().Release({.name = grant.name, .term = grant.term, .fence = grant.fence},
                                kTimeout);
  }
  std::optional<LeaseView> Look() { return connection().Get(name_, kTimeout); }

  static bool Granted(const AcquireOutcome& outcome) {
    return std::holds_alternative<Grant>(outcome);
  }
  static bool Refused(const AcquireOutcome& outcome) {
    return std::holds_alternative<HeldByAnother>(outcome);
  }
  static bool Ended(const AcquireOutcome& outcome) {
    return std::holds_alternative<TermEnded>(outcome);
  }
  static std::optional<LossReason> LossOf(const RenewOutcome& outcome) {
    if (const auto* loss = std::get_if<Loss>(&outcome)) return loss->reason;
    return std::nullopt;
  }

  /// Looks until somebody else has done what is expected.
  template <class Condition>
  static void Eventually(const Condition& condition) {
    for (int i = 0; i < 5'000; ++i) {
      if (condition()) return;
      std::this_thread::sleep_for(Milliseconds(2));
    }
    FAIL() << "it did not happen";
  }

  /// A thread that waits for the lease with a connection of its own.
  struct Waiter {
    std::string term;
    std::unique_ptr<Connection> connection;
    std::optional<AcquireOutcome> outcome;  // when `done`
    std::atomic<bool> done{false};
    std::thread thread;
    ~Waiter() {
      if (thread.joinable()) thread.join();
    }
  };
  std::unique_ptr<Waiter> Wait(const std::string& term, Milliseconds wait = Milliseconds(30'000)) {
    auto waiter = std::make_unique<Waiter>();
    waiter->term = term;
    waiter->connection = Another();
    waiter->thread = std::thread([self = waiter.get(), name = name_, wait] {
      try {
        self->outcome = self->connection->Acquire(
            {.name = name, .term = self->term, .ttl = kLong, .holder = self->term, .wait = wait},
            kTimeout);
      } catch (const LeaseError&) {
        self->outcome = std::nullopt;
      }
      self->done = true;
    });
    return waiter;
  }
  void AwaitWaiters(std::int64_t count) {
    Eventually([&] { return Look()->waiters >= count; });
  }

  // Reliable tasks.
  ClaimOutcome Claim(const std::string& term, Milliseconds interval, Milliseconds lock_timeout) {
    return connection().ClaimTask({.name = name_,
                                   .interval = interval,
                                   .lock_timeout = lock_timeout,
                                   .term = term,
                                   .holder = "h"},
                                  kTimeout);
  }
  /// Lets time pass until a run is due, then claims it.
  TaskRun ClaimDue(const std::string& term, Milliseconds interval, Milliseconds lock_timeout) {
    for (int i = 0; i < 100; ++i) {
      ClaimOutcome outcome = Claim(term, interval, lock_timeout);
      if (auto* run = std::get_if<TaskRun>(&outcome)) return *run;
      GetParam().advance(std::get<TaskNotDue>(outcome).retry_after + Milliseconds(1));
    }
    throw std::logic_error("the task never became due");
  }
  FinishOutcome Finish(const TaskRun& run, std::optional<std::string> error = std::nullopt) {
    return connection().FinishTask({.name = name_,
                                    .fence = run.lock.fence,
                                    .term = run.lock.term,
                                    .error = std::move(error),
                                    .nominal_ms = run.nominal_ms},
                                   kTimeout);
  }

  const std::string name_ = "conformance/" + NewTerm();
  const std::string a_ = NewTerm();
  const std::string b_ = NewTerm();
  const std::string c_ = NewTerm();

 private:
  std::unique_ptr<Provider> provider_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace tenure::leases::conformance
