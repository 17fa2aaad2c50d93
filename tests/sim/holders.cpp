// What a process of a simulation does: it asks for leases, keeps them as the library would, and
// gives them back.

#include <fmt/format.h>

#include "sim/run.hpp"

namespace tenure::sim {

/// An agent's turn: what it does depends on where it stands, and on the seed.
void Run::Act(std::size_t index) {
  Agent& agent = agents_[index];
  const bool is_task = names_[agent.name].task.has_value();
  switch (agent.state) {
    case State::kIdle:
      agent.term = NewTerm();
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

void Run::ActHolding(std::size_t index) {
  Agent& agent = agents_[index];
  holder::Keeper& keeper = *agent.keeper;
  if (keeper.over() || keeper.Expire(Now())) {
    Trace(fmt::format("p{} gives up fence {}", agent.process, agent.fence));
    // A zombie: it may still try to write, or to end what is not its own any more.
    if (Chance(40)) SendWrite(agent);
    if (Chance(40)) names_[agent.name].task ? SendFinish(agent) : SendRelease(agent);
    agent.state = State::kIdle;
    return;
  }
  if (agent.renewing && Now() - agent.asked_ms > keeper.call_timeout().count()) {
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
void Run::Finish(std::size_t index) {
  Agent& agent = agents_[index];
  agent.keeper->Release(Now());
  names_[agent.name].task ? SendFinish(agent) : SendRelease(agent);
  agent.state = State::kIdle;
}

/// One call for all leases of the process that are due, and those that may come along.
void Run::RenewDue(std::size_t process) {
  std::vector<std::size_t> due;
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    Agent& agent = agents_[i];
    if (agent.process != process || agent.state != State::kHolding) continue;
    if (agent.keeper->BeginRenewal(Now())) due.push_back(i);
  }
  if (!due.empty()) SendRenew(due);
}

holder::Exchange Run::Count(holder::Exchange exchange) const {
  if (options_.planted == Planted::kTrustFromReply) exchange.sent_ms = exchange.received_ms;
  return exchange;
}

void Run::Hold(std::size_t index, const leases::Grant& grant, holder::Exchange exchange) {
  Agent& agent = agents_[index];
  leases::LeaseOptions options;
  options.ttl = leases::Milliseconds(names_[agent.name].ttl_ms);
  if (options_.planted == Planted::kNoMargin) options.safety_threshold = 0.9999;
  agent.fence = grant.fence;
  agent.renewing = false;
  agent.keeper.emplace(grant, Count(exchange), options, random_());
  agent.state = State::kHolding;
  Trace(
      fmt::format("p{} holds fence {} for {} ms", agent.process, agent.fence, TrustedForMs(agent)));
  CheckTrust(agent);
}

void Run::OnAcquired(std::size_t index, const base::Uuid& term, holder::Exchange exchange,
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

void Run::OnClaimed(std::size_t index, const base::Uuid& term, holder::Exchange exchange,
                    const Result<leases::ClaimOutcome>& result) {
  Agent& agent = agents_[index];
  if (agent.term != term || agent.state != State::kAsking || !result.ok()) return;
  if (const auto* run = std::get_if<leases::TaskRun>(&result.value()))
    Hold(index, run->lock, exchange);
  else
    agent.state = State::kIdle;
}

/// Without an outcome the try failed.
void Run::OnRenewed(std::size_t index, const base::Uuid& term, holder::Exchange exchange,
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

bool Run::Held(const Agent& agent) const {
  return agent.state == State::kHolding && agent.keeper->valid_until_ms() > Now();
}

std::int64_t Run::TrustedForMs(const Agent& agent) const {
  return Held(agent) ? agent.keeper->valid_until_ms() - Now() : 0;
}

/// L3: who learns late of a grant, or of a renewal, must not trust it beyond the next grant.
void Run::CheckTrust(const Agent& agent) {
  const LeaseBook& book = names_[agent.name].book;
  const auto next_ms = book.SupersededAt(agent.fence);
  if (!next_ms || book.WasForced(agent.fence)) return;
  if (agent.keeper->valid_until_ms() > *next_ms)
    Violation(fmt::format("L3: fence {} is trusted {} ms beyond the next grant", agent.fence,
                          agent.keeper->valid_until_ms() - *next_ms));
}

}  // namespace tenure::sim
