// What the processes of a simulation of leases do: they ask for leases, keep them as the library
// would, and give them back. What they send, what the server makes of it, and the notes that the
// checkers take of every committed answer.

#include <algorithm>

#include <fmt/format.h>

#include "sim/lease_run.hpp"

namespace tenure::sim {
namespace {

constexpr std::int64_t kLongestWaitMs = 2'500;

std::string Outcome(const leases::AcquireOutcome& outcome) {
  if (const auto* grant = std::get_if<leases::Grant>(&outcome))
    return fmt::format("fence {} is granted", grant->fence);
  if (const auto* held = std::get_if<leases::HeldByAnother>(&outcome))
    return fmt::format("not granted: {}", leases::ToText(held->reason));
  return "not granted: the term is over";
}

}  // namespace

/// An agent's turn: what it does depends on where it stands, and on the seed.
void LeaseRun::Act(std::size_t index) {
  Agent& agent = agents_[index];
  const bool is_task = names_[agent.name].task.has_value();
  switch (agent.state) {
    case State::kIdle:
      agent.term = NewId();
      agent.state = State::kAsking;
      is_task ? SendClaim(index) : SendAcquire(index);
      return;
    case State::kAsking:
      // No answer yet: it asks again with the same term, gives up, or waits on.
      if (Chance(30)) {
        is_task ? SendClaim(index) : SendAcquire(index);
      } else if (Chance(20)) {
        if (!is_task) SendRelease(agent);
        agent.state = State::kIdle;
      }
      return;
    case State::kHolding:
      return ActHolding(index);
  }
}

void LeaseRun::ActHolding(std::size_t index) {
  Agent& agent = agents_[index];
  client::Keeper& keeper = *agent.keeper;
  if (keeper.over() || keeper.Expire(Now())) {
    Trace(fmt::format("p{} gives up fence {}", agent.process, agent.fence));
    // A zombie: it may still try to write, or to end what is not its own any more.
    if (Chance(40)) SendWrite(agent);
    if (Chance(40)) names_[agent.name].task ? SendFinish(agent) : SendRelease(agent);
    agent.state = State::kIdle;
    return;
  }
  if (agent.renewing && Now() - agent.asked_ms > client::RenewalTimeout(keeper.ttl()).count()) {
    agent.renewing = false;
    keeper.Failed(Now());
  }
  if (keeper.next_renewal_ms() <= Now())
    RenewDue(agent.process);
  else if (Chance(30))
    SendWrite(agent);
  else if (Chance(25))
    Finish(index);
}

/// Trust ends before the request that ends the grant goes out.
void LeaseRun::Finish(std::size_t index) {
  Agent& agent = agents_[index];
  agent.keeper->Release(Now());
  names_[agent.name].task ? SendFinish(agent) : SendRelease(agent);
  agent.state = State::kIdle;
}

/// One call for all leases of the process that are due, and those that may come along.
void LeaseRun::RenewDue(std::size_t process) {
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    Agent& agent = agents_[i];
    if (agent.process != process || agent.state != State::kHolding) continue;
    if (agent.keeper->BeginRenewal(Now())) due.push_back(i);
  }
  if (!due.empty()) SendRenew(due);
}

client::CallTimes LeaseRun::Count(client::CallTimes exchange) const {
  if (planted_ == Planted::kTrustFromReply) exchange.sent_ms = exchange.received_ms;
  return exchange;
}

void LeaseRun::Hold(std::size_t index, const leases::Grant& grant, client::CallTimes exchange) {
  Agent& agent = agents_[index];
  leases::LeaseOptions options;
  options.ttl = leases::Milliseconds(names_[agent.name].ttl_ms);
  if (planted_ == Planted::kNoMargin) options.safety_threshold = 0.9999;
  agent.fence = grant.fence;
  agent.renewing = false;
  agent.keeper.emplace(grant, Count(exchange), options, Random(UINT64_MAX));
  agent.state = State::kHolding;
  Trace(
      fmt::format("p{} holds fence {} for {} ms", agent.process, agent.fence, TrustedForMs(agent)));
  CheckTrust(agent);
}

void LeaseRun::OnAcquired(std::size_t index, const base::Uuid& term, client::CallTimes exchange,
                          const Result<leases::AcquireOutcome>& result) {
  Agent& agent = agents_[index];
  if (agent.term != term || !result.ok()) return;
  const auto* grant = std::get_if<leases::Grant>(&result.value());
  if (agent.state == State::kHolding && grant) {
    // A repeated acquisition of the live grant renewed it.
    const leases::RenewOutcome renewed = *grant;
    OnRenewed(index, term, exchange, &renewed);
  } else if (agent.state == State::kAsking && grant)
    Hold(index, *grant, exchange);
  else if (agent.state == State::kAsking)
    agent.state = State::kIdle;
}

void LeaseRun::OnClaimed(std::size_t index, const base::Uuid& term, client::CallTimes exchange,
                         const Result<leases::ClaimOutcome>& result) {
  Agent& agent = agents_[index];
  if (agent.term != term || agent.state != State::kAsking || !result.ok()) return;
  if (const auto* run = std::get_if<leases::TaskRun>(&result.value()))
    Hold(index, run->lock, exchange);
  else
    agent.state = State::kIdle;
}

/// Without an outcome the try failed.
void LeaseRun::OnRenewed(std::size_t index, const base::Uuid& term, client::CallTimes exchange,
                         const leases::RenewOutcome* outcome) {
  Agent& agent = agents_[index];
  if (agent.term != term || agent.state != State::kHolding) return;
  agent.renewing = false;
  if (!outcome) {
    agent.keeper->Failed(Now());
  } else if (const auto* grant = std::get_if<leases::Grant>(outcome)) {
    agent.keeper->Renewed(*grant, Count(exchange));
    Trace(fmt::format("p{} goes on holding fence {} for {} ms", agent.process, agent.fence,
                      TrustedForMs(agent)));
  } else {
    agent.keeper->Lose(std::get<leases::Loss>(*outcome).reason, Now());
  }
  CheckTrust(agent);
}

bool LeaseRun::Held(const Agent& agent) const {
  return agent.state == State::kHolding && agent.keeper->valid_until_ms() > Now();
}

std::int64_t LeaseRun::TrustedForMs(const Agent& agent) const {
  return Held(agent) ? agent.keeper->valid_until_ms() - Now() : 0;
}

/// L3: who learns late of a grant, or of a renewal, must not trust it beyond the next grant.
void LeaseRun::CheckTrust(const Agent& agent) {
  const LeaseBook& book = names_[agent.name].book;
  const auto next_ms = book.SupersededAt(agent.fence);
  if (!next_ms || book.WasForced(agent.fence)) return;
  if (agent.keeper->valid_until_ms() > *next_ms)
    Violation(fmt::format("L3: fence {} is trusted {} ms beyond the next grant", agent.fence,
                          agent.keeper->valid_until_ms() - *next_ms));
}

void LeaseRun::Send(Message message) {
  if (!calm() && Chance(lose_percent_)) return Trace(message.label + " is lost");
  if (!calm() && Chance(double_percent_)) bag_.push_back(message);
  bag_.push_back(std::move(message));
}

void LeaseRun::ToServer(std::string label, std::function<void()> deliver) {
  Message message;
  message.label = std::move(label);
  message.deliver = [this, deliver = std::move(deliver)](std::int64_t) {
    if (planted_ == Planted::kEarlyClock) ensemble().ReadClockEarly();
    deliver();
  };
  Send(std::move(message));
}

void LeaseRun::ToProcess(std::size_t process, int generation, std::string label,
                         std::function<void(std::int64_t)> deliver) {
  Send({std::move(label), process, generation, std::move(deliver), std::nullopt});
}

void LeaseRun::SendAcquire(std::size_t index) {
  Agent& agent = agents_[index];
  const Name& name = names_[agent.name];
  leases::AcquireCommand command;
  command.key = name.key;
  command.term = agent.term;
  command.ttl_ms = name.ttl_ms;
  const std::int64_t wait_ms = Chance(40) ? 1 + RandomMs(kLongestWaitMs) : 0;
  agent.asked_ms = Now();
  const int generation = processes_[agent.process].generation;
  ToServer(fmt::format("p{} acquire {}{}", agent.process, name.key.name, wait_ms ? " wait" : ""),
           [this, command, index, generation, sent_ms = Now(), wait_ms] {
             Arrive(command, index, generation, sent_ms, wait_ms);
           });
}

void LeaseRun::Arrive(const leases::AcquireCommand& asked, std::size_t index, int generation,
                      std::int64_t sent_ms, std::int64_t wait_ms) {
  leases::AcquireCommand command = asked;
  command.received_boot_ms = Now();
  const std::size_t name = agents_[index].name;
  const std::uint64_t number = ++arrivals_;
  auto done = Hear(0, [this, index, generation, sent_ms, name, number, waits = wait_ms > 0,
                       term = command.term](Result<leases::AcquireOutcome> result) {
    std::erase_if(line_, [&](const Waiting& waiting) { return waiting.number == number; });
    if (result.ok()) NoteAcquired(names_[name], term, number, result.value());
    // Its last question left the line, for all who wait under its term.
    if (waits && result.ok()) LoseThePlace(term);
    ToProcess(agents_[index].process, generation,
              fmt::format("p{} acquire's answer", agents_[index].process),
              [this, index, term, sent_ms, result](std::int64_t received_ms) {
                OnAcquired(index, term, {sent_ms, received_ms}, result);
              });
  });
  if (wait_ms == 0) return server().leases.Acquire(command, nullptr, std::move(done));
  places_.emplace(command.term, number);
  line_.push_back({name, index, command.term, number, Now() + wait_ms});
  const auto id = server().leases.AcquireWaiting(command, wait_ms, nullptr, std::move(done));
  for (Waiting& waiting : line_)
    if (waiting.number == number) waiting.id = id;
}

void LeaseRun::NoteAcquired(Name& name, const base::Uuid& term, std::uint64_t number,
                            const leases::AcquireOutcome& outcome) {
  Trace(fmt::format("{}: {}", name.key.name, Outcome(outcome)));
  if (const auto* grant = std::get_if<leases::Grant>(&outcome))
    NoteGrant(name, term, *grant, number);
  else
    name.book.NotGranted(at_, term, outcome);
}

void LeaseRun::NoteGrant(Name& name, const base::Uuid& term, const leases::Grant& grant,
                         std::uint64_t number) {
  const Instant at = at_;
  if (!name.book.Granted(at, term, grant)) return;
  // A place in the line is a term's: who asks again stands where it stood.
  if (const auto place = places_.find(term); place != places_.end())
    number = std::min(number, place->second);
  LoseThePlace(term);
  for (const Agent& agent : agents_) {
    if (&names_[agent.name] != &name || agent.state != State::kHolding) continue;
    if (agent.fence == grant.fence || name.book.WasForced(agent.fence)) continue;
    if (agent.keeper->valid_until_ms() > at.boot_ms)
      Violation(fmt::format("L3: fence {} is granted while p{} is sure of {} for {} ms more",
                            grant.fence, agent.process, agent.fence,
                            agent.keeper->valid_until_ms() - at.boot_ms));
  }
  for (const Waiting& waiting : line_)
    if (&names_[waiting.name] == &name && waiting.term != term && waiting.number < number &&
        waiting.in_place && waiting.deadline_boot_ms > Now())
      Violation("the line: somebody was served who came later than one who waits");
}

/// Whoever still waits under this term goes to the end of the line as it is now, or stands nowhere
/// until it asks again.
void LeaseRun::LoseThePlace(const base::Uuid& term) {
  places_.erase(term);
  for (Waiting& waiting : line_) {
    if (waiting.term != term) continue;
    waiting.in_place = false;
    places_[term] = ++arrivals_;
  }
}

void LeaseRun::SendClaim(std::size_t index) {
  Agent& agent = agents_[index];
  tasks::ClaimCommand command;
  command.key = {tenant_, "t"};
  command.interval_ms = kTaskIntervalMs;
  command.lock_timeout_ms = names_[agent.name].ttl_ms;
  command.term = agent.term;
  agent.asked_ms = Now();
  const int generation = processes_[agent.process].generation;
  ToServer(fmt::format("p{} claim", agent.process), [this, command, index, generation,
                                                     sent_ms = Now()]() mutable {
    command.received_boot_ms = Now();
    server().tasks.Claim(
        command, nullptr,
        Hear(0, [this, index, generation, sent_ms,
                 term = command.term](Result<leases::ClaimOutcome> result) {
          Name& name = names_[agents_[index].name];
          const auto* run = result.ok() ? std::get_if<leases::TaskRun>(&result.value()) : nullptr;
          if (run) {
            Trace(fmt::format("the run for {} is handed out, fence {}", run->nominal_ms % 100'000,
                              run->lock.fence));
            NoteGrant(name, term, run->lock, ++arrivals_);
            name.task->Claimed(at_, *run);
          }
          ToProcess(agents_[index].process, generation,
                    fmt::format("p{} claim's answer", agents_[index].process),
                    [this, index, term, sent_ms, result](std::int64_t received_ms) {
                      OnClaimed(index, term, {sent_ms, received_ms}, result);
                    });
        }));
  });
}

void LeaseRun::SendRenew(const std::vector<std::size_t>& indexes) {
  std::vector<leases::RenewCommand> commands;
  for (const std::size_t index : indexes) {
    Agent& agent = agents_[index];
    agent.renewing = true;
    agent.asked_ms = Now();
    commands.push_back({names_[agent.name].key, agent.fence, agent.term, {}});
  }
  const std::size_t process = agents_[indexes.front()].process;
  const int generation = processes_[process].generation;
  ToServer(fmt::format("p{} renew {}", process, commands.size()),
           [this, commands, indexes, process, generation, sent_ms = Now()] {
             server().leases.Renew(
                 commands, nullptr,
                 Hear(0, [this, commands, indexes, process, generation,
                          sent_ms](Result<std::vector<leases::RenewOutcome>> result) {
                   for (std::size_t i = 0; result.ok() && i < commands.size(); ++i) {
                     leases::RenewOutcome& outcome = result.value()[i];
                     Name& name = names_[agents_[indexes[i]].name];
                     if (planted_ == Planted::kExpiredIsRenewed) RenewAnyway(name, outcome);
                     name.book.Renewed(at_, commands[i], outcome);
                     Trace(fmt::format("{}: fence {} is {}", name.key.name, commands[i].fence,
                                       outcome.index() == 0 ? "renewed" : "lost"));
                   }
                   ToProcess(process, generation, fmt::format("p{} renew's answer", process),
                             [this, commands, indexes, sent_ms, result](std::int64_t received_ms) {
                               for (std::size_t i = 0; i < commands.size(); ++i)
                                 OnRenewed(indexes[i], commands[i].term, {sent_ms, received_ms},
                                           result.ok() ? &result.value()[i] : nullptr);
                             });
                 }));
           });
}

/// The planted bug: nobody else has it yet, so why not.
void LeaseRun::RenewAnyway(const Name& name, leases::RenewOutcome& outcome) {
  const auto* loss = std::get_if<leases::Loss>(&outcome);
  if (!loss || loss->reason != leases::LossReason::kExpired) return;
  leases::Grant grant;
  grant.fence = name.book.fence();
  grant.ttl = grant.remaining = leases::Milliseconds(name.ttl_ms);
  grant.now_ms = at_.store_ms;
  grant.expires_at_ms = grant.now_ms + name.ttl_ms;
  outcome = grant;
}

void LeaseRun::SendRelease(const Agent& agent) {
  leases::ReleaseCommand command{names_[agent.name].key, agent.term, {}};
  if (agent.state == State::kHolding && Chance(50)) command.fence = agent.fence;
  ToServer(fmt::format("p{} release {}", agent.process, command.key.name), [this, command,
                                                                            index = agent.name] {
    Name& name = names_[index];
    leases::ReleaseCommand sent = command;
    if (planted_ == Planted::kReleaseByAnybody && name.book.term())
      sent = {command.key, *name.book.term(), {}};
    server().leases.Release(
        sent, nullptr,
        Hear(0, [this, command, &name](const Result<leases::ReleaseOutcome>& result) {
          if (!result.ok()) return;
          Trace(fmt::format("{}: {}", name.key.name,
                            result.value().released ? "released" : "nothing to release"));
          // Whoever waited under this term stands at the end of the line, if at all.
          std::erase_if(line_, [&](const Waiting& one) { return one.term == command.term; });
          name.book.Released(at_, command.term, command.fence, result.value().released);
        }));
  });
}

void LeaseRun::SendFinish(const Agent& agent) {
  tasks::FinishCommand command{{tenant_, "t"}, agent.fence, agent.term, {}};
  if (Chance(25)) command.error = "it did not work";
  ToServer(fmt::format("p{} finish", agent.process), [this, command, index = agent.name] {
    Name& name = names_[index];
    tasks::FinishCommand sent = command;
    if (planted_ == Planted::kFinishByAnybody && name.book.term()) {
      sent.term = *name.book.term();
      sent.fence = name.book.fence();
    }
    server().tasks.Finish(
        sent, nullptr, Hear(0, [this, command, &name](const Result<leases::FinishOutcome>& result) {
          if (!result.ok()) return;
          const Instant at = at_;
          Trace(fmt::format("fence {} finishes: {}", command.fence,
                            result.value().accepted ? "accepted" : "refused"));
          name.book.Released(at, command.term, command.fence, result.value().accepted);
          name.task->Finished(at, command.fence, command.error.has_value(), result.value());
        }));
  });
}

void LeaseRun::SendWrite(const Agent& agent) {
  ToServer(
      fmt::format("p{} write", agent.process), [this, fence = agent.fence, index = agent.name] {
        Name& name = names_[index];
        server().Write({name.key.tenant, name.key.name, fence},
                       Hear(0, [this, fence, &name](const Result<WriteReply>& result) {
                         const bool refused =
                             !result.ok() && result.fault().kind() == base::FaultKind::kFenceStale;
                         if (!result.ok() && !refused) return;
                         Trace(fmt::format("{}: a write under fence {} is {}", name.key.name, fence,
                                           refused ? "refused" : "accepted"));
                         name.book.Written(at_, fence, result.ok());
                       }));
      });
}

void LeaseRun::SendBreak() {
  Name& name = names_[Random(names_.size())];
  leases::BreakCommand command;
  command.key = name.key;
  command.reason = "because";
  if (Chance(50)) command.drain_ms = RandomMs(500);
  command.force = Chance(20);
  if (Chance(50)) command.fence = name.book.fence();
  ToServer(fmt::format("break {}{}", command.key.name, command.force ? " by force" : ""),
           [this, command, &name] {
             server().leases.Break(
                 command, nullptr,
                 Hear(0, [this, command, &name](const Result<leases::BreakOutcome>& reply) {
                   if (!reply.ok()) return;
                   const leases::BreakOutcome& outcome = reply.value();
                   Trace(fmt::format("{}: {}", name.key.name,
                                     outcome.broken ? "broken" : "nothing to break"));
                   name.book.Broken(at_, command, outcome);
                 }));
           });
}

}  // namespace tenure::sim
