// What the processes of a simulation send, what the server makes of it, and the notes that the
// checkers take of every committed answer.

#include <algorithm>

#include <fmt/format.h>

#include "sim/run.hpp"

namespace tenure::sim {
namespace {

constexpr std::int64_t kLongestWaitMs = 2'500;
constexpr std::int64_t kTaskIntervalMs = 1'000;

std::string Outcome(const leases::AcquireOutcome& outcome) {
  if (const auto* grant = std::get_if<leases::Grant>(&outcome))
    return fmt::format("fence {} is granted", grant->fence);
  if (const auto* held = std::get_if<leases::HeldByAnother>(&outcome))
    return fmt::format("not granted: {}", leases::ToText(held->reason));
  return "not granted: the term is over";
}

}  // namespace

void Run::Send(Message message) {
  if (!calm_ && Chance(lose_percent_)) return Trace(message.label + " is lost");
  if (!calm_ && Chance(double_percent_)) bag_.push_back(message);
  bag_.push_back(std::move(message));
}

void Run::ToServer(std::string label, std::function<void()> deliver) {
  Message message;
  message.label = std::move(label);
  message.deliver = [this, deliver = std::move(deliver)](std::int64_t) {
    if (options_.planted == Planted::kEarlyClock && !server_.watch().early_)
      server_.watch().early_ = Instant{clock_.WallMs(), clock_.BootMs()};
    deliver();
  };
  Send(std::move(message));
}

void Run::ToProcess(std::size_t process, int generation, std::string label,
                    std::function<void(std::int64_t)> deliver) {
  Send({std::move(label), process, generation, std::move(deliver), std::nullopt});
}

void Run::SendAcquire(std::size_t index) {
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

void Run::Arrive(const leases::AcquireCommand& asked, std::size_t index, int generation,
                 std::int64_t sent_ms, std::int64_t wait_ms) {
  leases::AcquireCommand command = asked;
  command.received_boot_ms = Now();
  const std::size_t name = agents_[index].name;
  const std::uint64_t number = ++arrivals_;
  auto done = [this, index, generation, sent_ms, name, number,
               term = command.term](Result<leases::AcquireOutcome> result) {
    if (server_.crashing()) return;
    std::erase_if(line_, [&](const Waiting& waiting) { return waiting.number == number; });
    if (result.ok()) NoteAcquired(names_[name], term, number, result.value());
    ToProcess(agents_[index].process, generation,
              fmt::format("p{} acquire's answer", agents_[index].process),
              [this, index, term, sent_ms, result](std::int64_t received_ms) {
                OnAcquired(index, term, {sent_ms, received_ms}, result);
              });
  };
  if (wait_ms == 0) return server_.leases().Acquire(command, nullptr, std::move(done));
  line_.push_back({name, index, command.term, number, Now() + wait_ms});
  const auto id = server_.leases().AcquireWaiting(command, wait_ms, nullptr, std::move(done));
  for (Waiting& waiting : line_)
    if (waiting.number == number) waiting.id = id;
}

void Run::NoteAcquired(Name& name, const base::Uuid& term, std::uint64_t number,
                       const leases::AcquireOutcome& outcome) {
  Trace(fmt::format("{}: {}", name.key.name, Outcome(outcome)));
  if (const auto* grant = std::get_if<leases::Grant>(&outcome))
    NoteGrant(name, term, *grant, number);
  else
    name.book.NotGranted(server_.watch().at, term, outcome);
}

void Run::NoteGrant(Name& name, const base::Uuid& term, const leases::Grant& grant,
                    std::uint64_t number) {
  const Instant at = server_.watch().at;
  if (!name.book.Granted(at, term, grant)) return;
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

/// Whoever still waits under this term stands at the end of the line, if at all.
void Run::LoseThePlace(const base::Uuid& term) {
  for (Waiting& waiting : line_)
    if (waiting.term == term) waiting.in_place = false;
}

void Run::SendClaim(std::size_t index) {
  Agent& agent = agents_[index];
  tasks::ClaimCommand command;
  command.key = {options_.tenant, "t"};
  command.interval_ms = kTaskIntervalMs;
  command.lock_timeout_ms = names_[agent.name].ttl_ms;
  command.term = agent.term;
  agent.asked_ms = Now();
  const int generation = processes_[agent.process].generation;
  ToServer(fmt::format("p{} claim", agent.process), [this, command, index, generation,
                                                     sent_ms = Now()]() mutable {
    command.received_boot_ms = Now();
    server_.tasks().Claim(
        command, nullptr,
        [this, index, generation, sent_ms,
         term = command.term](Result<leases::ClaimOutcome> result) {
          if (server_.crashing()) return;
          Name& name = names_[agents_[index].name];
          const auto* run = result.ok() ? std::get_if<leases::TaskRun>(&result.value()) : nullptr;
          if (run) {
            Trace(fmt::format("the run for {} is handed out, fence {}", run->nominal_ms % 100'000,
                              run->lock.fence));
            NoteGrant(name, term, run->lock, ++arrivals_);
            name.task->Claimed(server_.watch().at, *run);
          }
          ToProcess(agents_[index].process, generation,
                    fmt::format("p{} claim's answer", agents_[index].process),
                    [this, index, term, sent_ms, result](std::int64_t received_ms) {
                      OnClaimed(index, term, {sent_ms, received_ms}, result);
                    });
        });
  });
}

void Run::SendRenew(const std::vector<std::size_t>& indexes) {
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
             server_.leases().Renew(
                 commands, nullptr,
                 [this, commands, indexes, process, generation,
                  sent_ms](Result<std::vector<leases::RenewOutcome>> result) {
                   if (server_.crashing()) return;
                   for (std::size_t i = 0; result.ok() && i < commands.size(); ++i) {
                     leases::RenewOutcome& outcome = result.value()[i];
                     Name& name = names_[agents_[indexes[i]].name];
                     if (options_.planted == Planted::kExpiredIsRenewed) RenewAnyway(name, outcome);
                     name.book.Renewed(server_.watch().at, commands[i], outcome);
                     Trace(fmt::format("{}: fence {} is {}", name.key.name, commands[i].fence,
                                       outcome.index() == 0 ? "renewed" : "lost"));
                   }
                   ToProcess(process, generation, fmt::format("p{} renew's answer", process),
                             [this, commands, indexes, sent_ms, result](std::int64_t received_ms) {
                               for (std::size_t i = 0; i < commands.size(); ++i)
                                 OnRenewed(indexes[i], commands[i].term, {sent_ms, received_ms},
                                           result.ok() ? &result.value()[i] : nullptr);
                             });
                 });
           });
}

/// The planted bug: nobody else has it yet, so why not.
void Run::RenewAnyway(const Name& name, leases::RenewOutcome& outcome) {
  const auto* loss = std::get_if<leases::Loss>(&outcome);
  if (!loss || loss->reason != leases::LossReason::kExpired) return;
  leases::Grant grant;
  grant.fence = name.book.fence();
  grant.ttl = grant.remaining = leases::Milliseconds(name.ttl_ms);
  grant.now_ms = server_.watch().at.store_ms;
  grant.expires_at_ms = grant.now_ms + name.ttl_ms;
  outcome = grant;
}

void Run::SendRelease(const Agent& agent) {
  leases::ReleaseCommand command{names_[agent.name].key, agent.term, {}};
  if (agent.state == State::kHolding && Chance(50)) command.fence = agent.fence;
  ToServer(fmt::format("p{} release {}", agent.process, command.key.name), [this, command,
                                                                            index = agent.name] {
    Name& name = names_[index];
    leases::ReleaseCommand sent = command;
    if (options_.planted == Planted::kReleaseByAnybody && name.book.term())
      sent = {command.key, *name.book.term(), {}};
    server_.leases().Release(
        sent, nullptr, [this, command, &name](const Result<leases::ReleaseOutcome>& result) {
          if (server_.crashing() || !result.ok()) return;
          Trace(fmt::format("{}: {}", name.key.name,
                            result.value().released ? "released" : "nothing to release"));
          // Whoever waited under this term stands at the end of the line, if at all.
          std::erase_if(line_, [&](const Waiting& one) { return one.term == command.term; });
          name.book.Released(server_.watch().at, command.term, command.fence,
                             result.value().released);
        });
  });
}

void Run::SendFinish(const Agent& agent) {
  tasks::FinishCommand command{{options_.tenant, "t"}, agent.fence, agent.term, {}};
  if (Chance(25)) command.error = "it did not work";
  ToServer(fmt::format("p{} finish", agent.process), [this, command, index = agent.name] {
    Name& name = names_[index];
    tasks::FinishCommand sent = command;
    if (options_.planted == Planted::kFinishByAnybody && name.book.term()) {
      sent.term = *name.book.term();
      sent.fence = name.book.fence();
    }
    server_.tasks().Finish(
        sent, nullptr, [this, command, &name](const Result<leases::FinishOutcome>& result) {
          if (server_.crashing() || !result.ok()) return;
          const Instant at = server_.watch().at;
          Trace(fmt::format("fence {} finishes: {}", command.fence,
                            result.value().accepted ? "accepted" : "refused"));
          name.book.Released(at, command.term, command.fence, result.value().accepted);
          name.task->Finished(at, command.fence, command.error.has_value(), result.value());
        });
  });
}

void Run::SendWrite(const Agent& agent) {
  ToServer(
      fmt::format("p{} write", agent.process), [this, fence = agent.fence, index = agent.name] {
        Name& name = names_[index];
        server_.Write({name.key.tenant, name.key.name, fence},
                      [this, fence, &name](const Result<WriteReply>& result) {
                        if (server_.crashing()) return;
                        const bool refused =
                            !result.ok() && result.fault().kind() == base::FaultKind::kFenceStale;
                        if (!result.ok() && !refused) return;
                        Trace(fmt::format("{}: a write under fence {} is {}", name.key.name, fence,
                                          refused ? "refused" : "accepted"));
                        name.book.Written(server_.watch().at, fence, result.ok());
                      });
      });
}

void Run::SendBreak() {
  Name& name = names_[Random(names_.size())];
  leases::BreakCommand command;
  command.key = name.key;
  command.reason = "because";
  if (Chance(50)) command.drain_ms = RandomMs(500);
  command.force = Chance(20);
  if (Chance(50)) command.fence = name.book.fence();
  ToServer(fmt::format("break {}{}", command.key.name, command.force ? " by force" : ""),
           [this, command, &name] {
             server_.leases().Break(
                 command, nullptr,
                 [this, command, &name](const Result<leases::ChangeReply>& reply) {
                   if (server_.crashing() || !reply.ok()) return;
                   const auto outcome = std::get<leases::BreakOutcome>(reply.value().outcome);
                   Trace(fmt::format("{}: {}", name.key.name,
                                     outcome.broken ? "broken" : "nothing to break"));
                   name.book.Broken(server_.watch().at, command, outcome);
                 });
           });
}

}  // namespace tenure::sim
