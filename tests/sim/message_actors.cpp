// What people and programs do in a run of messages.

#include <algorithm>

#include <fmt/format.h>

#include "sim/message_run.hpp"

namespace tenure::sim {

using messages::ClaimReply;
using messages::ClaimRequest;
using messages::Disposition;
using messages::HeartbeatRequest;

namespace {

const char* ToText(Disposition disposition) {
  static constexpr const char* kNames[] = {"done", "retry", "dead", "untouched", "extend"};
  return kNames[static_cast<int>(disposition)];
}

}  // namespace

std::vector<std::string> MessageRun::AnyTopics() {
  const auto roll = Random(4);
  if (roll == 0) return {"a"};
  if (roll == 1) return {"b"};
  return {"a", "b"};
}

void MessageRun::Enqueue(std::size_t process) {
  messages::EnqueueRequest request{kTenant, {}};
  const std::int64_t first = number_ + 1;
  for (auto count = 1 + Random(3); count > 0; --count) {
    messages::NewMessage& message = request.messages.emplace_back();
    message.topic = AnyTopic();
    message.payload = std::to_string(++number_);
    message.priority = Chance(80) ? messages::kDefaultPriority : 2;
    if (Chance(30)) message.delay_ms = RandomMs(3'000);
    // A key belongs to a topic.
    if (Chance(25)) message.dedup_key = message.topic + (Chance(50) ? "1" : "2");
    book_.AskEnqueue(number_, message.dedup_key);
    Trace(fmt::format("message {} of {} to process {}: delay {}, key '{}'", number_, message.topic,
                      process, message.delay_ms.value_or(0), message.dedup_key));
  }
  messages(process).Enqueue(
      std::move(request), nullptr, Hear(process, [this, first](const auto& result) {
        if (!result.ok()) return;
        std::int64_t number = first;
        for (const messages::EnqueuedMessage& each : result.value().messages) {
          book_.Enqueued(number++, each);
          timers_.push_back(each.id);
        }
      }));
}

ClaimRequest MessageRun::NewClaim() {
  ClaimRequest request;
  request.tenant = kTenant;
  request.topics = AnyTopics();
  request.max = 1 + RandomMs(3);
  request.owner = "somebody";
  if (Chance(80)) request.lease_ms = 1'000 + RandomMs(2'000);
  return request;
}

/// Somebody without a heartbeat.
void MessageRun::Pull(std::size_t process) {
  ClaimRequest request = NewClaim();
  if (Chance(40)) {
    request.claim_id = NewId();
    named_claims_.push_back(request);
  }
  Trace(fmt::format("a claim of {} to process {}", request.max, process));
  messages(process).Claim(request, nullptr, Hear(process, [this, request](const auto& result) {
                            if (result.ok()) OnClaimed(request, result.value());
                          }));
}

/// The answer may have been lost: the same claim again.
void MessageRun::PullAgain(std::size_t process) {
  if (named_claims_.empty()) return Pull(process);
  const ClaimRequest request = AnyLate(named_claims_, 3);
  Trace(fmt::format("the same claim again, to process {}", process));
  messages(process).Claim(request, nullptr, Hear(process, [this, request](const auto& result) {
                            if (result.ok()) OnClaimed(request, result.value());
                          }));
}

void MessageRun::OnClaimed(const ClaimRequest& request, const ClaimReply& reply) {
  book_.Claimed(Seen(), request, reply);
  for (const messages::ClaimedMessage& each : reply.messages) {
    told_.emplace_back(each.id, each.fence);
    Trace(fmt::format("{} is handed out under fence {}", book_.NameOf(each.id), each.fence));
  }
}

void MessageRun::Wait(std::size_t process) {
  const ClaimRequest request = NewClaim();
  Trace(fmt::format("a claim of {} waits at process {}", request.max, process));
  const auto key = std::make_shared<messages::Consumers::Id>(0);
  waiting_.push_back({process, 0, request.topics, Now()});
  *key = messages(process).ClaimWaiting(
      request, 500 + RandomMs(20'000), nullptr,
      Hear(process, [this, request, process, key](const auto& result) {
        std::erase_if(waiting_, [&](const Waiting& each) {
          return each.process == process && each.id == *key;
        });
        if (result.ok()) OnClaimed(request, result.value());
      }));
  waiting_.back().id = *key;
}

/// Somebody who waits hangs up.
void MessageRun::Leave(std::size_t process) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& each) { return each.process == process; });
  if (found == waiting_.end()) return;
  Trace(fmt::format("who waits at process {} goes", process));
  const auto id = found->id;
  waiting_.erase(found);
  book_.Leave();
  messages(process).Abandon(id);
  HangUp(process);
}

/// About anything that was ever handed out, mostly lately; also twice, and too late.
void MessageRun::ReportSome(std::size_t process) {
  if (told_.empty()) return;
  std::vector<Claim> claims;
  for (auto count = 1 + Random(3); count > 0; --count) {
    claims.push_back(AnyLate(told_, Chance(80) ? 5 : told_.size()));
  }
  static constexpr Disposition kDispositions[] = {
      Disposition::kDone, Disposition::kDone,      Disposition::kDone,  Disposition::kRetry,
      Disposition::kDead, Disposition::kUntouched, Disposition::kExtend};
  SendReports(process, kDispositions[Random(std::size(kDispositions))], std::move(claims));
}

void MessageRun::SendReports(std::size_t process, Disposition disposition,
                             std::vector<Claim> claims) {
  messages::SettleRequest request{kTenant, disposition, {}, {}};
  if (disposition == Disposition::kExtend) request.lease_ms = 1'000 + RandomMs(3'000);
  for (const Claim& claim : claims) {
    Trace(fmt::format("{} of {} under fence {} to process {}", ToText(disposition),
                      book_.NameOf(claim.first), claim.second, process));
    book_.AskReport(disposition, claim);
    messages::Settlement& report = request.settlements.emplace_back();
    report.id = claim.first;
    report.fence = claim.second;
    if (disposition == Disposition::kRetry)
      report.retry_after_ms = Chance(30) ? 0 : RandomMs(2'000);
    const auto row = book_.picture().messages.find(claim.first);
    // The bug "nobody looks at the fence": a stranger's request is carried out as the holder's.
    if (planted_ == Planted::kAckByAnybody && disposition == Disposition::kDone &&
        row != book_.picture().messages.end())
      report.fence = row->second.fence;
  }
  const std::int64_t least_ms = request.lease_ms.value_or(0) - kSlowestCommitMs;
  messages(process).Settle(std::move(request), nullptr,
                           Hear(process, [this, disposition, claims, least_ms](const auto& result) {
                             if (!result.ok()) return;
                             const auto& outcomes = result.value().reply.outcomes;
                             for (std::size_t i = 0; i < claims.size(); ++i)
                               book_.Reported(Seen(), disposition, claims[i], outcomes[i],
                                              least_ms);
                           }));
}

/// One step of a worker of the library. Between any two it may be paused for longer than it is
/// believed to live, or die.
void MessageRun::Work(Worker& worker) {
  if (worker.number == 0) return Join(worker);
  const auto roll = Random(100);
  if (roll < 35) return Beat(worker);
  if (roll < 60) return WorkerClaims(worker);
  if (roll < 75) return WorkerBegins(worker);
  if (roll < 93) return WorkerReports(worker);
  Trace("a worker dies");
  if (roll < 97) {
    book_.LeaveWorker(worker.number);
    messages(worker.process)
        .Heartbeat({HeartbeatRequest::Kind::kLeave, worker.number, kTenant, "worker"},
                   Hear(worker.process));
  }
  worker.number = 0;
  worker.batches.clear();
}

void MessageRun::Join(Worker& worker) {
  // Above all that are made of names, as messages::NewWorker makes them.
  const auto number = static_cast<std::int64_t>((Random(UINT64_MAX) >> 2) | std::uint64_t{1} << 62);
  Trace("a worker joins");
  messages(worker.process)
      .Heartbeat({HeartbeatRequest::Kind::kJoin, number, kTenant, "worker"},
                 Hear(worker.process, [this, &worker, number](const auto& result) {
                   if (!result.ok() || worker.number != 0) return;
                   book_.Beaten(Seen(), number, result.value().alive);
                   worker.number = number;
                 }));
}

void MessageRun::Beat(Worker& worker) {
  const std::int64_t number = worker.number;
  messages(worker.process)
      .Heartbeat({HeartbeatRequest::Kind::kBeat, number, kTenant, "worker"},
                 Hear(worker.process, [this, &worker, number](const auto& result) {
                   if (!result.ok()) return;
                   book_.Beaten(Seen(), number, result.value().alive);
                   if (result.value().alive || worker.number != number) return;
                   Trace("a worker hears that it was given up");
                   worker.number = 0;
                   worker.batches.clear();
                 }));
}

void MessageRun::WorkerClaims(Worker& worker) {
  ClaimRequest request = NewClaim();
  request.worker = worker.number;
  request.started = 0;
  Trace(fmt::format("a worker claims {} at process {}", request.max, worker.process));
  messages(worker.process)
      .Claim(request, nullptr, Hear(worker.process, [this, &worker, request](const auto& result) {
               if (!result.ok()) return;
               OnClaimed(request, result.value());
               if (worker.number != request.worker) return;
               Batch& batch = worker.batches.emplace_back();
               batch.claim = result.value().claim;
               for (const auto& each : result.value().messages)
                 batch.messages.emplace_back(each.id, each.fence);
             }));
}

/// It says so first, and begins when that was answered.
void MessageRun::WorkerBegins(Worker& worker) {
  for (Batch& batch : worker.batches) {
    if (batch.begun == batch.messages.size()) continue;
    const std::size_t begun = batch.begun + 1;
    Trace(fmt::format("a worker begins with {}", book_.NameOf(batch.messages[begun - 1].first)));
    messages(worker.process)
        .Started({kTenant, batch.claim, static_cast<std::int64_t>(begun)},
                 Hear(worker.process, [&worker, claim = batch.claim, begun](const auto& result) {
                   if (!result.ok()) return;
                   for (Batch& each : worker.batches)
                     if (each.claim == claim) each.begun = std::max(each.begun, begun);
                 }));
    return;
  }
}

void MessageRun::WorkerReports(Worker& worker) {
  for (const Batch& batch : worker.batches) {
    if (batch.begun == 0) continue;
    const Disposition disposition = Chance(80) ? Disposition::kDone : Disposition::kRetry;
    return SendReports(worker.process, disposition, {batch.messages[Random(batch.begun)]});
  }
}

void MessageRun::Cancel(std::size_t process) {
  if (timers_.empty()) return;
  const base::Uuid id = AnyLate(timers_, 6);
  Trace(fmt::format("{} is to be cancelled", book_.NameOf(id)));
  book_.AskCancel(id);
  messages(process).Cancel({kTenant, id}, nullptr, Hear(process, [this, id](const auto& result) {
                             if (result.ok()) book_.Cancelled(Seen(), id, result.value().outcome);
                           }));
}

void MessageRun::Pause(std::size_t process, bool paused) {
  messages::TopicChange change;
  change.tenant = kTenant;
  change.name = AnyTopic();
  change.paused = paused;
  Trace(fmt::format("topic {} is to be {}", change.name, paused ? "paused" : "resumed"));
  const int nth = ++pauses_;
  messages(process).ChangeTopic(change, nullptr,
                                Hear(process, [this, change, nth](const auto& result) {
                                  // A later one may have been carried out in the same transaction.
                                  if (result.ok() && nth == pauses_)
                                    book_.Paused(Seen(), change.name, *change.paused);
                                }));
}

void MessageRun::ChangeDead(std::size_t process) {
  messages::DeadChangeRequest request;
  request.kind = Chance(60) ? messages::DeadChangeRequest::Kind::kRedrive
                            : messages::DeadChangeRequest::Kind::kDiscard;
  request.filter.tenant = kTenant;
  if (Chance(50)) request.filter.topic = AnyTopic();
  if (Chance(30)) request.delay_ms = RandomMs(1'000);
  Trace("dead letters are to be changed");
  messages(process).ChangeDead(std::move(request), nullptr, Hear(process));
}

}  // namespace tenure::sim
