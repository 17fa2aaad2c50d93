// What clients do in a run of seats.

#include <algorithm>

#include <fmt/format.h>

#include "db/maintenance.hpp"
#include "sim/seat_run.hpp"

namespace tenure::sim {

using seats::AcquireOutcome;
using seats::HeartbeatOutcome;
using What = SeatBook::Heard::What;

void SeatRun::Tell(std::size_t client, std::function<void(Client&)> listen,
                   std::function<void()> miss) {
  if (!calm() && Chance(15))
    late_.push_back({client, clients_[client].life, std::move(listen), std::move(miss)});
  else
    listen(clients_[client]);
}

void SeatRun::ActAs(std::size_t index, std::size_t process) {
  Client& client = clients_[index];
  const auto roll = Random(100);
  if (client.ticket && !Believes(client) && roll < 35)
    return Chance(85) ? SeeTicket(index, process) : LeaveLine(index, process);
  if (!Believes(client)) {
    // It may wake up past its deadline, and go on as if nothing had been.
    if (client.session && roll < 25) return Beat({index}, process);
    return Acquire(index, process, roll < 60 ? 0 : 1'000 + RandomMs(8'000));
  }
  if (roll < 40) return Beat({index}, process);
  if (roll < 55) {
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < clients_.size(); ++i)
      if (clients_[i].session && clients_[i].person == client.person) all.push_back(i);
    return Beat(all, process);
  }
  if (roll < 70) return Release(index, process);
  if (roll < 78) return Die(client);
  // A second process of the same application, or one that has lost its memory.
  if (roll < 85) return Acquire(index, process, 0);
  // It sleeps.
}

seats::AcquireCommand SeatRun::CommandOf(const Client& client) {
  seats::AcquireCommand command;
  command.tenant = tenant_;
  command.person = client.person;
  command.machine = client.machine;
  command.new_session = NewId();
  command.new_ticket = NewId();
  command.received_boot_ms = Now();
  return command;
}

void SeatRun::Acquire(std::size_t index, std::size_t process, std::int64_t wait_ms) {
  Client& client = clients_[index];
  seats::AcquireRequest request{key_hash_, CommandOf(client), wait_ms, {}};
  if (client.session && !client.was_released && !Believes(client) && Chance(60)) {
    // Its successor vouches that it is over.
    request.command.former = client.session;
    book_.Stops(*client.session, Now());
  }
  // The bug "nobody looks whose seat it is".
  if (planted_ == Planted::kResumeByAnybody) request.command.person = "ann";
  Trace(fmt::format("{} on {} asks process {} for a seat, waits {}{}", client.person,
                    client.machine, process, wait_ms,
                    request.command.former ? ", names its former" : ""));
  // The bug "a grant while rows > seats": it does not see that the limit is a lower one by now.
  hides_limit_ = planted_ == Planted::kGrantWhileDraining;
  if (hides_limit_)
    ensemble().tables().Ask("update licenses set seats = row_count where row_count > seats");
  Waiting waiting{process, nullptr, std::make_shared<bool>(false)};
  waiting.request = seats(process).Acquire(
      std::move(request), nullptr,
      Listen(process, [this, index, process, sent_ms = Now(), life = client.life,
                       answered = waiting.answered](const auto& result) {
        *answered = true;
        if (!result.ok()) return;
        const auto& outcome = std::get<AcquireOutcome>(result.value());
        if (clients_[index].life == life) return AfterAcquire(index, sent_ms, process, outcome);
        if (std::holds_alternative<seats::Grant>(outcome)) book_.Misses();
      }));
  if (wait_ms > 0) waiting_.push_back(std::move(waiting));
  if (hides_limit_) {
    DriveOne(process);
    ensemble().tables().Ask(
        fmt::format("update licenses set seats = {} where tenant = '{}'", limit_, tenant_));
    hides_limit_ = false;
  }
  std::erase_if(waiting_, [](const Waiting& each) { return *each.answered; });
}

void SeatRun::AfterAcquire(std::size_t index, std::int64_t sent_ms, std::size_t process,
                           const AcquireOutcome& outcome) {
  const Client& client = clients_[index];
  if (const auto* grant = std::get_if<seats::Grant>(&outcome)) {
    const std::int64_t until_ms =
        sent_ms + grant->waited_ms * 9 / 10 + grant->expires_ms - grant->now_ms;
    Trace(fmt::format("{} on {} has {}{} for {}", client.person, client.machine,
                      NameOf(grant->session), grant->resumed ? " (resumed)" : "",
                      until_ms - Now()));
    book_.Hears({.what = grant->resumed ? What::kResume : What::kGrant,
                 .session = grant->session,
                 .machine = client.machine,
                 .person = client.person,
                 .commit = commits_,
                 .at_ms = Now(),
                 .until_ms = until_ms,
                 .now_ms = grant->now_ms,
                 .expires_ms = grant->expires_ms,
                 .fence = grant->fence});
    Tell(
        index,
        [session = grant->session, until_ms](Client& one) {
          one.session = session;
          one.was_released = false;
          one.until_ms = until_ms;
          one.ticket.reset();
          one.offered_until_ms = 0;
        },
        [this, session = grant->session, at_ms = Now()] { book_.Stops(session, at_ms); });
    return;
  }
  if (client.offered_until_ms > StoreNow() && planted_ != Planted::kResumeByAnybody &&
      book_.picture() && book_.picture()->state == 0)
    Violation(fmt::format("a seat was offered to {} for {} ms more, and it is not given it",
                          client.machine, client.offered_until_ms - StoreNow()));
  if (const auto* full = std::get_if<seats::Full>(&outcome)) {
    Trace(fmt::format("{} on {} is denied: {}", client.person, client.machine,
                      seats::ToText(full->reason)));
    const bool is_alone =
        submitted_[process] == 1 && std::ranges::none_of(waiting_, [&](const Waiting& each) {
          return each.process == process;
        });
    if (full->reason == seats::Full::Reason::kFull && seat_is_to_be_had_ && is_alone)
      Violation(fmt::format("K2: {} is denied, though a seat is to be had", client.machine));
    if (full->ticket)
      Tell(
          index, [ticket = *full->ticket](Client& one) { one.ticket = ticket; }, [] {});
  } else if (const auto* waiting = std::get_if<seats::Waiting>(&outcome)) {
    Tell(
        index, [ticket = waiting->ticket](Client& one) { one.ticket = ticket; }, [] {});
  }
}

void SeatRun::Beat(const std::vector<std::size_t>& clients, std::size_t process) {
  if (clients.empty()) return;
  seats::BeatRequest request{tenant_, clients_[clients.front()].person, {}};
  std::vector<std::pair<std::size_t, int>> asked;
  std::string names;
  for (const std::size_t index : clients) {
    request.sessions.push_back(*clients_[index].session);
    asked.emplace_back(index, clients_[index].life);
    names += " " + NameOf(*clients_[index].session);
  }
  Trace(fmt::format("a heartbeat of{} to process {}", names, process));
  // The bugs "revive past the line" and "revive in the freeze": a heartbeat sees neither.
  if (planted_ == Planted::kRevivePastTheLine)
    ensemble().tables().Ask(
        "update seat_tickets set expires_ms = -expires_ms where expires_ms > 0");
  const auto set_freeze = [this] {
    const auto maintenance = ensemble().ServerOf<SeatServer>(0).store.engine().BeginMaintenance();
    maintenance->Execute("update store set incarnation_ms = -incarnation_ms");
    maintenance->Commit();
  };
  if (planted_ == Planted::kReviveInTheFreeze) set_freeze();
  seats(process).Heartbeat(
      request, nullptr,
      Listen(process, [this, asked, request, sent_ms = Now()](const auto& result) {
        if (!result.ok()) return;
        for (std::size_t i = 0; i < asked.size(); ++i)
          if (clients_[asked[i].first].life == asked[i].second)
            AfterBeat(asked[i].first, request.sessions[i], sent_ms, result.value().now_ms,
                      result.value().outcomes[i]);
          else if (const auto* beat = std::get_if<seats::Beat>(&result.value().outcomes[i]); beat)
            book_.Misses();
      }));
  if (planted_ == Planted::kRevivePastTheLine) {
    DriveOne(process);
    ensemble().tables().Ask(
        "update seat_tickets set expires_ms = -expires_ms where expires_ms < 0");
  }
  if (planted_ == Planted::kReviveInTheFreeze) {
    DriveOne(process);
    set_freeze();
  }
}

void SeatRun::AfterBeat(std::size_t index, const base::Uuid& session, std::int64_t sent_ms,
                        std::int64_t now_ms, const HeartbeatOutcome& outcome) {
  const Client& client = clients_[index];
  if (const auto* beat = std::get_if<seats::Beat>(&outcome)) {
    const std::int64_t until_ms = sent_ms + beat->expires_ms - beat->beat_ms;
    Trace(fmt::format("{} is {} for {}", NameOf(session), beat->revived ? "revived" : "renewed",
                      until_ms - Now()));
    if (beat->revived) ++revived_;
    book_.Hears({.what = beat->revived ? What::kRevive : What::kBeat,
                 .session = session,
                 .machine = client.machine,
                 .person = client.person,
                 .commit = commits_,
                 .at_ms = Now(),
                 .until_ms = until_ms,
                 .now_ms = now_ms,
                 .expires_ms = beat->expires_ms});
    Tell(
        index,
        [session, until_ms](Client& one) {
          if (one.session == session) one.until_ms = std::max(one.until_ms, until_ms);
        },
        [this, session, at_ms = Now()] { book_.Stops(session, at_ms); });
    return;
  }
  if (std::holds_alternative<seats::Forgotten>(outcome)) return;
  if (std::holds_alternative<seats::Unheard>(outcome)) return book_.Misses();
  const auto* lost = std::get_if<seats::Lost>(&outcome);
  Trace(fmt::format("{} is lost: {}", NameOf(session),
                    lost ? seats::ToText(lost->reason) : "unknown"));
  if (lost && lost->reason == seats::EndReason::kExpired)
    book_.HearsExpired(session, lost->ended_ms);
  Tell(
      index,
      [this, session](Client& one) {
        book_.Stops(session, Now());
        if (one.session == session) one.until_ms = 0;
      },
      [] {});
}

/// Belief ends before the request goes out.
void SeatRun::Release(std::size_t index, std::size_t process) {
  Client& client = clients_[index];
  Trace(fmt::format("{} of {} is released at process {}", NameOf(*client.session), client.machine,
                    process));
  book_.Stops(*client.session, Now());
  client.until_ms = 0;
  client.was_released = true;
  seats(process).Release({{}, tenant_, client.person, *client.session}, nullptr,
                         Listen(process, [this, machine = client.machine](const auto& result) {
                           if (result.ok() && result.value().released)
                             book_.HearsEnd(machine, commits_);
                         }));
}

/// The state file outlives it, or not.
void SeatRun::Die(Client& client) {
  Trace(fmt::format("a process of {} on {} dies", client.person, client.machine));
  if (client.session) book_.Stops(*client.session, Now());
  const bool remembers = Chance(60);
  client = {client.machine, client.person, client.life + 1,
            remembers ? client.session : std::nullopt, client.was_released};
}

void SeatRun::SeeTicket(std::size_t index, std::size_t process) {
  const Client& client = clients_[index];
  Trace(fmt::format("{} on {} looks at its ticket", client.person, client.machine));
  const auto after = [this, index](const auto& result) {
    if (!result.ok()) return;
    if (std::holds_alternative<seats::NoTicket>(result.value())) clients_[index].ticket.reset();
    const auto* view = std::get_if<seats::TicketView>(&result.value());
    if (!view || view->position > 0) return;
    ++offered_;
    Trace(fmt::format("a seat is offered to {}", clients_[index].machine));
    clients_[index].offered_until_ms = view->offer_ends_ms;
  };
  seats::TicketCommand command{license_, tenant_, client.person, *client.ticket,
                               seats::TicketCommand::Kind::kSee};
  if (Chance(60)) return seats(process).Ticket(command, nullptr, Listen(process, after));
  Waiting waiting{process, nullptr, std::make_shared<bool>(false)};
  waiting.request = seats(process).AwaitTicket(
      command, 500 + RandomMs(5'000), nullptr,
      Listen(process, [after, answered = waiting.answered](const auto& result) {
        *answered = true;
        after(result);
      }));
  waiting_.push_back(std::move(waiting));
}

void SeatRun::LeaveLine(std::size_t index, std::size_t process) {
  Client& client = clients_[index];
  Trace(fmt::format("{} on {} leaves the line", client.person, client.machine));
  client.offered_until_ms = 0;
  seats(process).Ticket(
      {license_, tenant_, client.person, *client.ticket, seats::TicketCommand::Kind::kLeave},
      nullptr, Listen(process, [](const auto&) {}));
  client.ticket.reset();
}

/// What it is granted meanwhile is given back, and nobody hears of it.
void SeatRun::HangUpOne() {
  std::erase_if(waiting_, [](const Waiting& each) { return *each.answered; });
  if (waiting_.empty()) return;
  const Waiting waiting = waiting_.front();
  waiting_.erase(waiting_.begin());
  Trace(fmt::format("who waits at process {} hangs up", waiting.process));
  const int crashes = crashes_;
  DriveOne(waiting.process);  // its look is over
  if (*waiting.answered || crashes_ != crashes) return;
  book_.Misses();
  seats(waiting.process).Abandon(waiting.request);
  HangUp(waiting.process);
}

}  // namespace tenure::sim
