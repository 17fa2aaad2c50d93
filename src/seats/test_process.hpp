#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "seats/keys.hpp"
#include "seats/seats.hpp"
#include "seats_sql/queries.hpp"
#include "store/process.hpp"

namespace tenure::seats {

/// As a server has them, with one for heartbeats.
inline db::StoreOptions LanesOfAServer() {
  db::StoreOptions options;
  options.renewal_lane = true;
  return options;
}

/// One process with seats on a test's store, driven by hand.
class TestProcess final : public store::Process {
 public:
  explicit TestProcess(store::TestStore& test_store, std::string id = "p", const Rules& rules = {})
      : Process(test_store),
        seats_(store(), wake(), std::move(id), rules, test_store.clock(), test_store.metrics()) {}

  struct Terms {
    std::int64_t seats = 3;
    std::int64_t ttl_ms = 60'000;
    std::int64_t grace_ms = 0;
    std::int64_t valid_from_ms = 0;
    std::int64_t valid_until_ms = 0;
    std::string key = "ACME-2026-KEY1";
    std::string tenant = "default";
  };
  CreateReply TryCreate(const Terms& terms) {
    CreateRequest request;
    LicenseRow& license = request.license;
    license.id = base::Uuid::V7(test_store().clock().WallMs());
    license.tenant = terms.tenant;
    license.name = "editor";
    license.seats = terms.seats;
    license.ttl_ms = terms.ttl_ms;
    license.interval_ms = terms.ttl_ms / 2;
    license.grace_ms = terms.grace_ms;
    license.valid_from_ms = terms.valid_from_ms;
    license.valid_until_ms = terms.valid_until_ms;
    license.key_hint = HintOfKey(terms.key);
    request.key_hash = HashOfKey(terms.key);
    request.by = "vendor";
    return Call(seats_, &Seats::Create, std::move(request));
  }
  base::Uuid Create(const Terms& terms) {
    const CreateReply reply = TryCreate(terms);
    EXPECT_TRUE(reply.license) << "not made";
    return reply.license ? reply.license->id : base::Uuid();
  }

  struct Ask {
    std::string person = "ann";
    std::string key = "ACME-2026-KEY1";
    std::string tenant = "default";
    std::string address = "192.0.2.1";
    std::optional<base::Uuid> former{};
    std::optional<base::IdempotencyKey> once{};
  };
  AcquireRequest RequestOf(const std::string& machine, const Ask& ask, std::int64_t wait_ms = 0) {
    AcquireRequest request;
    request.key_hash = HashOfKey(ask.key);
    request.wait_ms = wait_ms;
    request.once = ask.once;
    AcquireCommand& command = request.command;
    command.tenant = ask.tenant;
    command.person = ask.person;
    command.machine = machine;
    command.address = ask.address;
    command.user_agent = "test/1";
    command.former = ask.former;
    command.new_session = base::Uuid::V7(test_store().clock().WallMs());
    command.new_ticket = base::Uuid::V7(test_store().clock().WallMs());
    command.received_boot_ms = test_store().clock().BootMs();
    return request;
  }
  AcquireOutcome Acquire(const std::string& machine) { return Acquire(machine, Ask()); }
  AcquireOutcome Acquire(const std::string& machine, const Ask& ask) {
    return std::get<AcquireOutcome>(AcquireOnce(machine, ask));
  }
  Seats::Acquired AcquireOnce(const std::string& machine, const Ask& ask) {
    return Await<Seats::Acquired>([&](auto done) {
      seats_.Acquire(RequestOf(machine, ask), nullptr, std::move(done));
      store::Drive(store());
    });
  }

  /// A request that waits; its answer shows up in `outcome`.
  struct Waited {
    std::optional<db::Result<Seats::Acquired>> result{};
    Seats::RequestPtr request{};

    bool answered() const { return result.has_value(); }
    const AcquireOutcome& outcome() const { return std::get<AcquireOutcome>(result->value()); }
  };
  std::shared_ptr<Waited> Wait(const std::string& machine, std::int64_t wait_ms) {
    return Wait(machine, wait_ms, Ask());
  }
  std::shared_ptr<Waited> Wait(const std::string& machine, std::int64_t wait_ms, const Ask& ask) {
    auto waited = std::make_shared<Waited>();
    waited->request = seats_.Acquire(
        RequestOf(machine, ask, wait_ms), nullptr,
        [waited](db::Result<Seats::Acquired> result) { waited->result = std::move(result); });
    Drive();
    return waited;
  }

  HeartbeatOutcome Heartbeat(const base::Uuid& session, const std::string& person = "ann",
                             const std::string& tenant = "default") {
    return HeartbeatAll({session}, person, tenant).front();
  }
  std::vector<HeartbeatOutcome> HeartbeatAll(std::vector<base::Uuid> sessions,
                                             const std::string& person = "ann",
                                             const std::string& tenant = "default") {
    return Call(seats_, &Seats::Heartbeat, {tenant, person, std::move(sessions)}).outcomes;
  }
  bool Release(const base::Uuid& session, const std::string& person = "ann",
               const std::string& tenant = "default") {
    return Call(seats_, &Seats::Release, {{}, tenant, person, session}).released;
  }
  RevokeSeatOutcome Revoke(const base::Uuid& session, bool force = false) {
    return Call(seats_, &Seats::RevokeSeat, {{}, "default", session, "because", force, "op"});
  }
  TicketOutcome SeeTicket(const base::Uuid& ticket, const std::string& person = "ann") {
    return Call(seats_, &Seats::Ticket, {{}, "default", person, ticket, TicketCommand::Kind::kSee});
  }
  TicketOutcome LeaveTicket(const base::Uuid& ticket, const std::string& person = "ann") {
    return Call(seats_, &Seats::Ticket,
                {{}, "default", person, ticket, TicketCommand::Kind::kLeave});
  }
  AdminOutcome Change(ChangeCommand command) {
    command.by = "op";
    return Settle<AdminOutcome>(std::move(command));
  }
  template <class Reply>
  Reply Settle(Command command) {
    return Await<Reply>(
        [&](auto done) { seats_.Settle<Reply>(std::move(command), nullptr, std::move(done)); });
  }

  Seats& seats() { return seats_; }

 private:
  Seats seats_;
};

inline Grant Granted(const AcquireOutcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<Grant>(outcome)) << "not granted: " << outcome.index();
  return std::holds_alternative<Grant>(outcome) ? std::get<Grant>(outcome) : Grant();
}
inline Full Denied(const AcquireOutcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<Full>(outcome)) << "not denied: " << outcome.index();
  return std::holds_alternative<Full>(outcome) ? std::get<Full>(outcome) : Full();
}
inline Beat Renewed(const HeartbeatOutcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<Beat>(outcome)) << "not renewed: " << outcome.index();
  return std::holds_alternative<Beat>(outcome) ? std::get<Beat>(outcome) : Beat();
}
inline Lost LostOf(const HeartbeatOutcome& outcome) {
  EXPECT_TRUE(std::holds_alternative<Lost>(outcome)) << "not lost: " << outcome.index();
  return std::holds_alternative<Lost>(outcome) ? std::get<Lost>(outcome) : Lost();
}

}  // namespace tenure::seats
