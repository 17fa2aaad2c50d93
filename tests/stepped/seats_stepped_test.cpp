// Seats under the stepped scheduler: K1 and K2 as clients believe, nobody overtakes, prove holds; no deadlock ever, and
// planted bugs that must be found.

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "seats/keys.hpp"
#include "seats/seats.hpp"
#include "seats_sql/queries.hpp"
#include "sim/seat_book.hpp"
#include "stepped/frame.hpp"

namespace tenure::stepped {
namespace {

using seats::AcquireCommand;
using seats::AcquireOutcome;
using sim::SeatBook;
using What = SeatBook::Heard::What;

constexpr std::int64_t kSeatTtlMs = 400;  // short, so that holdings lapse in the middle of a run

/// What is wrong on purpose.
enum class SeatBug {
  kNothing,
  kCountWhileLocking,  ///< what is free is read by the statement that waits for the lock
  kLapsedWithoutLock,  ///< step 2 locks nothing
  kClockBeforeLock,
};

struct SeatsServer final : Server {
  explicit SeatsServer(Process& of)
      : process(of),
        seats(of.store(), of.wake(), of.name(), {.offer_ms = 300, .ticket_ms = 300, .line_max = 20},
              of.clock(), of.metrics()) {}

  Process& process;
  seats::Seats seats;
};

class SeatStepRun final : public Frame {
 public:
  explicit SeatStepRun(SeatBug planted)
      : Frame({.queries = QueriesOf({seats::sql::All()}),
               .batches = 5,
               .odds = {.crash_percent = 1,
                        .lost_reply_percent = 4,
                        .pause_percent = planted == SeatBug::kLapsedWithoutLock ? 15 : 2},
               .lock_step = "seats.lock_licenses",
               .early_clock = planted == SeatBug::kClockBeforeLock,
               .clocks = 2}) {
    // It waits for the licence, and reads on the snapshot from before.
    if (planted == SeatBug::kCountWhileLocking) {
      Plant(seats::sql::kLockLicenses, "for no key update", "");
      Plant(
          seats::sql::kLoadOpen, "select item.ordinal, s.slot",
          "with locked as materialized (select id from tenure.licenses where id = any ($1::uuid[]) "
          "order by id for no key update) select item.ordinal, s.slot");
      Plant(seats::sql::kLoadOpen, "as item (license_id, wanted, ordinal)",
            "as item (license_id, wanted, ordinal) join locked on locked.id = item.license_id");
    }
    if (planted == SeatBug::kLapsedWithoutLock)
      Plant(seats::sql::kFindLapsed, "for no key update of s skip locked", "");
  }

 private:
  struct Client {
    std::string machine{};
    std::string person{};
    std::optional<base::Uuid> session{};
    std::int64_t until_ms = 0;
    std::optional<base::Uuid> ticket{};
  };

  std::unique_ptr<Server> Boot(Process& process) override {
    return std::make_unique<SeatsServer>(process);
  }
  seats::Seats& seats(Process& process) { return ServerOf<SeatsServer>(process).seats; }
  std::int64_t Now() { return clock().BootMs(); }
  bool Believes(const Client& client) { return client.session && Now() < client.until_ms; }

  /// An answer that was lost, or that nobody lived to hear, is missed.
  template <class Then>
  auto Listen(Then then) {
    ++asked_;
    return [this, then = std::move(then)](const auto& result) {
      if (!Expect(result)) return;
      ++answered_;
      then(result.value());
    };
  }
  auto Listen() {
    return Listen([](const auto&) {});
  }

  void Begin() override {
    book_.emplace([this](const std::string& what) { Violation(what); });
    clients_.clear();
    for (const char* machine : {"m0", "m1", "m2", "m0"})
      clients_.push_back({machine, "ann", {}, 0, {}});
    clients_.push_back({"m1", "bob", {}, 0, {}});
    asked_ = answered_ = 0;
    judging_ = true;  // what is done alone is no step of the run
    license_ = NewId();
    steps_back_ = Random(5) == 0 ? 1 : 0;
    was_set_back_ = false;
    seats::CreateRequest request;
    request.license.id = license_;
    request.license.tenant = tenant();
    request.license.seats = 1 + static_cast<std::int64_t>(Random(2));
    request.license.ttl_ms = kSeatTtlMs;
    request.license.interval_ms = kSeatTtlMs / 2;
    request.key_hash = seats::HashOfKey(tenant());
    Ask<seats::CreateReply>([&](Process& process, auto done) {
      seats(process).Create(request, nullptr, std::move(done));
    });
    limit_ = request.license.seats;
    book_->Limit(0, limit_);
    judging_ = false;
  }

  void BetweenSteps() override {
    Frame::BetweenSteps();
    if (steps_back_ == 0 || Random(100) > 0) return;
    // The store's clock is set back: holders' are not.
    steps_back_ = 0;
    was_set_back_ = true;
    book_->Misses();
    clock().StepWall(-static_cast<std::int64_t>(Random(300)));
  }

  /// A heartbeat that has looked at its clock takes its time: deadlines pass meanwhile.
  void OnStep(Process&, std::string_view step) override {
    if (!judging_ && step == "seats.renew_seats" && Chance(30))
      clock().Advance(static_cast<std::int64_t>(Random(kSeatTtlMs)));
  }

  void OnCommit(Process& process) override {
    committed_ms_[process.index()] = Now();
    if (judging_) return;
    latest_ms_ = std::max(latest_ms_, clock().WallMs());
    const auto picture = sim::ReadSeatPicture(tables(), license_, latest_ms_);
    if (picture.limit != limit_) book_->Limit(process.seen, limit_ = picture.limit);
    book_->Committed(picture);
  }

  void Submit(Process& process) override {
    for (auto count = 1 + Random(2); count > 0; --count) Act(process);
  }
  void Act(Process& process) {
    const auto roll = Random(20);
    if (roll == 0) return Change(process);
    if (roll == 1)
      return seats(process).Settle<seats::SweepOutcome>(seats::SweepCommand{license_}, nullptr,
                                                        Listen());
    if (roll == 2)
      return seats(process).Settle<seats::SweepOutcome>(seats::CheckpointCommand{license_, 0},
                                                        nullptr, Listen());
    const std::size_t index = Random(clients_.size());
    Client& client = clients_[index];
    if (roll == 3 && client.session) return Revoke(process, client);
    if (roll == 4 && client.ticket) return SeeTicket(process, client);
    if (client.session && roll < 12) return Beat(process, index, Chance(40));
    if (Believes(client) && roll < 17) return Release(process, client);
    Acquire(process, index);
  }

  void Change(Process& process) {
    seats::ChangeCommand command;
    command.license = license_;
    command.by = "op";
    if (Chance(60))
      command.seats = static_cast<std::int64_t>(Random(4));
    else
      command.ttl_ms = Chance(50) ? 200 : kSeatTtlMs;
    seats(process).Settle<seats::AdminOutcome>(command, nullptr, Listen());
  }

  void Revoke(Process& process, const Client& client) {
    const bool force = Chance(50);
    if (force) book_->Waives(client.machine, Now());
    seats(process).RevokeSeat(
        {{}, tenant(), *client.session, "because", force, "op"}, nullptr,
        Listen([this, &process, force, machine = client.machine](const auto& reply) {
          if (!reply.holding) return;
          if (force) book_->Waives(machine, Now());
          if (force || reply.holding->ended_ms > 0) book_->HearsEnd(machine, process.seen);
        }));
  }

  void SeeTicket(Process& process, Client& client) {
    const auto kind =
        Chance(70) ? seats::TicketCommand::Kind::kOpen : seats::TicketCommand::Kind::kLeave;
    seats(process).Ticket(
        {license_, tenant(), client.person, *client.ticket,
         kind == seats::TicketCommand::Kind::kOpen ? seats::TicketCommand::Kind::kSee : kind},
        nullptr, Listen());
  }

  void Acquire(Process& process, std::size_t index) {
    const Client& client = clients_[index];
    AcquireCommand command;
    command.license = license_;
    command.tenant = tenant();
    command.person = client.person;
    command.machine = client.machine;
    command.new_session = NewId();
    command.new_ticket = NewId();
    command.wait = static_cast<AcquireCommand::Wait>(Random(3));
    command.received_boot_ms = Now();
    if (client.session && !Believes(client) && Chance(50)) {
      command.former = client.session;
      book_->Stops(*client.session, Now());
    }
    seats(process).Settle<AcquireOutcome>(
        command, nullptr,
        Listen([this, &process, index, sent_ms = Now()](const AcquireOutcome& outcome) {
          Acquired(process, clients_[index], sent_ms, outcome);
        }));
  }
  void Acquired(const Process& process, Client& client, std::int64_t sent_ms,
                const AcquireOutcome& outcome) {
    if (const auto* waiting = std::get_if<seats::Waiting>(&outcome))
      client.ticket = waiting->ticket;
    const auto* grant = std::get_if<seats::Grant>(&outcome);
    if (!grant) return;
    if (!was_set_back_ && grant->now_ms < process.locked_at_ms)
      Violation("a request was decided by a time from before its lock");
    client.session = grant->session;
    client.until_ms = sent_ms + grant->waited_ms * 9 / 10 + grant->expires_ms - grant->now_ms;
    client.ticket.reset();
    book_->Hears({.what = grant->resumed ? What::kResume : What::kGrant,
                  .session = grant->session,
                  .machine = client.machine,
                  .person = client.person,
                  .commit = process.seen,
                  .at_ms = committed_ms_[process.index()],
                  .until_ms = client.until_ms,
                  .now_ms = grant->now_ms,
                  .expires_ms = grant->expires_ms,
                  .fence = grant->fence});
  }

  /// Its own, or all of that person.
  void Beat(Process& process, std::size_t index, bool all) {
    seats::BeatRequest request{tenant(), clients_[index].person, {}};
    std::vector<std::size_t> asked;
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      if (!clients_[i].session || clients_[i].person != request.person || (i != index && !all))
        continue;
      request.sessions.push_back(*clients_[i].session);
      asked.push_back(i);
    }
    seats(process).Heartbeat(
        request, nullptr,
        Listen([this, &process, asked, request, sent_ms = Now()](const auto& reply) {
          for (std::size_t i = 0; i < asked.size(); ++i)
            Beaten(process, clients_[asked[i]], request.sessions[i], sent_ms, reply.outcomes[i],
                   reply.now_ms);
        }));
  }
  void Beaten(const Process& process, Client& client, const base::Uuid& session,
              std::int64_t sent_ms, const seats::HeartbeatOutcome& outcome, std::int64_t now_ms) {
    if (const auto* beat = std::get_if<seats::Beat>(&outcome)) {
      const std::int64_t until_ms = sent_ms + beat->expires_ms - beat->beat_ms;
      if (client.session == session) client.until_ms = std::max(client.until_ms, until_ms);
      // Of several transactions it is the last one's commit that is known.
      book_->Hears({.what = beat->revived ? What::kRevive : What::kBeat,
                    .session = session,
                    .machine = client.machine,
                    .person = client.person,
                    .commit = process.seen,
                    .at_ms = committed_ms_[process.index()],
                    .until_ms = until_ms,
                    .now_ms = now_ms,
                    .expires_ms = beat->expires_ms});
      return;
    }
    if (const auto* lost = std::get_if<seats::Lost>(&outcome);
        lost && lost->reason == seats::EndReason::kExpired)
      book_->HearsExpired(session, lost->ended_ms);
    if (std::holds_alternative<seats::Forgotten>(outcome)) return;
    if (std::holds_alternative<seats::Unheard>(outcome)) return book_->Misses();
    book_->Stops(session, Now());
    if (client.session == session) client.until_ms = 0;
  }

  void Release(Process& process, Client& client) {
    book_->Stops(*client.session, Now());
    client.until_ms = 0;
    seats(process).Release({{}, tenant(), client.person, *client.session}, nullptr,
                           Listen([this, &process, machine = client.machine](const auto& reply) {
                             if (reply.released) book_->HearsEnd(machine, process.seen);
                           }));
  }

  void Judge() override {
    if (asked_ != answered_) book_->Misses();
    judging_ = true;
    clock().Advance(100'000);  // everything is over
    seats::ChangeCommand change;
    change.license = license_;
    change.by = "op";
    change.seats = 2;
    try {
      Ask<seats::AdminOutcome>([&](Process& process, auto done) {
        seats(process).Settle<seats::AdminOutcome>(change, nullptr, std::move(done));
      });
      book_->Limit(process(0).seen, 2);
      for (const char* machine : {"f0", "f1", "f2"}) {
        clients_.push_back({machine, "ann", {}, 0, {}});
        Alone([&](Process& process) { Acquire(process, clients_.size() - 1); });
        if (clients_.back().session.has_value() != (machine[1] < '2'))
          Violation(fmt::format(
              "K2: machine {} is not treated as it should, though everybody is gone", machine));
      }
      JudgeLog();
    } catch (const base::Fault& fault) {
      Violation(fmt::format("the tables contradict each other: {}", fault.what()));
    }
  }

  void JudgeLog() {
    std::vector<seats::LogEntry> log;
    for (bool more = true; more;) {
      const auto page = Ask<db::Page<seats::LogEntry>>([&](Process& process, auto done) {
        seats(process).ListLog(
            {.license = license_, .from = log.empty() ? 1 : log.back().seq + 1, .limit = 500},
            nullptr, std::move(done));
      });
      log.insert(log.end(), page.rows.begin(), page.rows.end());
      more = page.has_more;
    }
    const auto found = Ask<seats::FindLicenseReply>([&](Process& process, auto done) {
      seats(process).FindLicense({tenant(), license_}, nullptr, std::move(done));
    });
    seats::LogHead head{.seq = found.license->license.log_seq};
    std::copy_n(found.license->license.log_hash.begin(), head.hash.size(), head.hash.begin());
    book_->Judge(log, head);
  }

  // Of one run.
  std::optional<SeatBook> book_;
  base::Uuid license_{};
  std::vector<Client> clients_;
  std::array<std::int64_t, kProcesses> committed_ms_{};
  std::int64_t limit_ = 0;
  std::int64_t latest_ms_ = 0;
  int steps_back_ = 0;
  bool was_set_back_ = false;
  int asked_ = 0;
  int answered_ = 0;
  bool judging_ = false;
};

TEST(SteppedSeats, K1_K2_HoldInEveryInterleavingAndNothingDeadlocks) {
  SeatStepRun run(SeatBug::kNothing);
  support::ExpectEverySeedHolds(run, {50, 5'000});
}

TEST(SteppedSeats, EveryPlantedBugIsFound) {
  using enum SeatBug;
  support::ExpectFound(SeatStepRun(kCountWhileLocking), kSeedsForABug, "VIOLATION");
  support::ExpectFound(SeatStepRun(kLapsedWithoutLock), kSeedsForABug, "K1", 63);
  support::ExpectFound(SeatStepRun(kClockBeforeLock), kSeedsForABug,
                       "by a time from before its lock");
}

}  // namespace
}  // namespace tenure::stepped
