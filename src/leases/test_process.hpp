#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "leases/leases.hpp"
#include "leases_sql/queries.hpp"
#include "store/process.hpp"

namespace tenure::leases {

/// The term of a test's n-th acquirer.
inline base::Uuid Term(int n) {
  base::Uuid term;
  term.bytes[0] = 0x70;
  term.bytes[14] = static_cast<std::uint8_t>(n >> 8);
  term.bytes[15] = static_cast<std::uint8_t>(n);
  return term;
}

class TestProcess final : public store::Process {
 public:
  explicit TestProcess(store::TestStore& test_store, std::string id = "p")
      : Process(test_store),
        leases_(store(), wake(), std::move(id), test_store.clock(), test_store.metrics()) {}

  struct Ask {
    std::int64_t ttl_ms = 1'000;
    std::string holder = "somebody";
    std::string metadata{};
    std::string tenant = "default";
  };
  AcquireCommand Command(const std::string& name, int term, const Ask& ask) {
    AcquireCommand command;
    command.key = {ask.tenant, name};
    command.term = Term(term);
    command.ttl_ms = ask.ttl_ms;
    command.holder = ask.holder;
    command.metadata = ask.metadata;
    command.received_boot_ms = test_store().clock().BootMs();
    return command;
  }

  AcquireOutcome Acquire(const std::string& name, int term) { return Acquire(name, term, Ask()); }
  AcquireOutcome Acquire(const std::string& name, int term, const Ask& ask) {
    return Call(leases_, &Leases::Acquire, Command(name, term, ask));
  }
  RenewOutcome Renew(const std::string& name, std::int64_t fence, int term,
                     std::optional<std::int64_t> ttl_ms = {}) {
    return RenewAll({{{"default", name}, fence, Term(term), ttl_ms}}).front();
  }
  std::vector<RenewOutcome> RenewAll(std::vector<RenewCommand> commands) {
    return Call(leases_, &Leases::Renew, std::move(commands));
  }
  ReleaseOutcome Release(const std::string& name, int term,
                         std::optional<std::int64_t> fence = {}) {
    return Call(leases_, &Leases::Release, {{"default", name}, Term(term), fence});
  }
  BreakOutcome Break(const std::string& name, std::int64_t drain_ms = 0, bool force = false) {
    return Call(leases_, &Leases::Break, {{"default", name}, "because", drain_ms, force});
  }
  std::optional<LeaseView> Find(const std::string& name, const std::string& tenant = "default") {
    return Call(leases_, &Leases::Find, {{tenant, name}, 100}).lease;
  }
  PageReply List(ListRequest list, const std::string& tenant = "default") {
    return Call(leases_, &Leases::List, {std::move(list), tenant});
  }
  TidyReply Tidy(const TidyRequest& request) { return Call(leases_, &Leases::TidySome, request); }
  std::int64_t CountActive() { return Call(leases_, &Leases::CountActive).active; }

  /// A request that waits; its answer shows up in `outcome`.
  struct Waiting {
    std::optional<db::Result<AcquireOutcome>> outcome{};
    Waiters::Id id = 0;
  };
  std::shared_ptr<Waiting> Wait(const std::string& name, int term, std::int64_t wait_ms) {
    return Wait(name, term, wait_ms, Ask());
  }
  std::shared_ptr<Waiting> Wait(const std::string& name, int term, std::int64_t wait_ms,
                                const Ask& ask) {
    auto waiting = std::make_shared<Waiting>();
    waiting->id = leases_.AcquireWaiting(
        Command(name, term, ask), wait_ms, nullptr,
        [waiting](db::Result<AcquireOutcome> result) { waiting->outcome = std::move(result); });
    Drive();
    return waiting;
  }

  Leases& leases() { return leases_; }

 private:
  Leases leases_;
};

inline const Grant& Granted(const AcquireOutcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<Grant>(outcome)) << "not granted";
  return std::get<Grant>(outcome);
}
inline const HeldByAnother& Held(const AcquireOutcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<HeldByAnother>(outcome)) << "not held by another";
  return std::get<HeldByAnother>(outcome);
}
inline LossReason Ended(const AcquireOutcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<TermEnded>(outcome)) << "the term is not over";
  return std::get<TermEnded>(outcome).reason;
}
inline const Grant& Renewed(const RenewOutcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<Grant>(outcome)) << "not renewed";
  return std::get<Grant>(outcome);
}
inline LossReason Lost(const RenewOutcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<Loss>(outcome)) << "renewed";
  return std::get<Loss>(outcome).reason;
}

}  // namespace tenure::leases
