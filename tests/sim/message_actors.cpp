// What people and programs do in a run of messages.

#include <algorithm>

#include <fmt/format.h>

#include "sim/message_run.hpp"

namespace tenure::sim {

using messages::ClaimReply;
using messages::ClaimRequest;
using messages::HeartbeatRequest;
using messages::Verdict;

namespace {

constexpr auto kTenant = "t";

const char* ToText(Verdict verdict) {
  static constexpr const char* kNames[] = {"done", "retry", "dead", "untouched", "extend"};
  return kNames[static_cast<int>(verdict)];
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
  ensemble_.messages(process).Enqueue(
      std::move(request), nullptr,
      Hear<messages::EnqueueReply>(process, [this, first](const auto& result) {
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
  ensemble_.messages(process).Claim(request, nullptr,
                                    Hear<ClaimReply>(process, [this, request](const auto& result) {
                                      if (result.ok()) OnClaimed(request, result.value());
                                    }));
}

/// The answer may have been lost: the same claim again.
void MessageRun::PullAgain(std::size_t process) {
  if (named_claims_.empty()) return Pull(process);
  const std::size_t back = std::min<std::size_t>(named_claims_.size(), 3);
  const ClaimRequest request = named_claims_[named_claims_.size() - 1 - Random(back)];
  Trace(fmt::format("the same claim again, to process {}", process));
  ensemble_.messages(process).Claim(request, nullptr,
                                    Hear<ClaimReply>(process, [this, request](const auto& result) {
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
  *key = ensemble_.messages(process).ClaimWaiting(
      request, 500 + RandomMs(20'000), nullptr,
      Hear<ClaimReply>(process, [this, request, process, key](const auto& result) {
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
  ensemble_.messages(process).Abandon(id);
}

/// About anything that was ever handed out, mostly lately; also twice, and too late.
void MessageRun::ReportSome(std::size_t process) {
  if (told_.empty()) return;
  std::vector<Claim> claims;
  for (auto count = 1 + Random(3); count > 0; --count) {
    const std::size_t back = Chance(80) ? std::min<std::size_t>(told_.size(), 5) : told_.size();
    claims.push_back(told_[told_.size() - 1 - Random(back)]);
  }
  static constexpr Verdict kVerdicts[] = {Verdict::kDone,  Verdict::kDone, Verdict::kDone,
                                          Verdict::kRetry, Verdict::kDead, Verdict::kUntouched,
                                          Verdict::kExtend};
  SendReports(process, kVerdicts[Random(std::size(kVerdicts))], std::move(claims));
}

void MessageRun::SendReports(std::size_t process, Verdict verdict, std::vector<Claim> claims) {
  messages::ReportRequest request{kTenant, verdict, {}, {}};
  if (verdict == Verdict::kExtend) request.lease_ms = 1'000 + RandomMs(3'000);
  for (const Claim& claim : claims) {
    Trace(fmt::format("{} of {} under fence {} to process {}", ToText(verdict),
                      book_.NameOf(claim.first), claim.second, process));
    book_.AskReport(verdict, claim);
    messages::Report& report = request.reports.emplace_back();
    report.id = claim.first;
    report.fence = claim.second;
    if (verdict == Verdict::kRetry) report.retry_after_ms = Chance(30) ? 0 : RandomMs(2'000);
    const auto row = book_.picture().messages.find(claim.first);
    // The bug "nobody looks at the fence": a stranger's request is carried out as the holder's.
    if (options_.planted == PlantedInMessages::kAckByAnybody && verdict == Verdict::kDone &&
        row != book_.picture().messages.end())
      report.fence = row->second.fence;
  }
  const std::int64_t least_ms = request.lease_ms.value_or(0) - kSlowestCommitMs;
  ensemble_.messages(process).Report(
      std::move(request), nullptr,
      Hear<messages::ReportResult>(process, [this, verdict, claims, least_ms](const auto& result) {
        if (!result.ok()) return;
        const auto& outcomes = result.value().reply.outcomes;
        for (std::size_t i = 0; i < claims.size(); ++i)
          book_.Reported(Seen(), verdict, claims[i], outcomes[i], least_ms);
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
    ensemble_.messages(worker.process)
        .Heartbeat({HeartbeatRequest::Kind::kLeave, worker.number, kTenant, "worker"},
                   [](const auto&) {});
  }
  worker.number = 0;
  worker.batches.clear();
}

void MessageRun::Join(Worker& worker) {
  // Above all that are made of names, as messages::NewWorker makes them.
  const auto number = static_cast<std::int64_t>((random_() >> 2) | std::uint64_t{1} << 62);
  Trace("a worker joins");
  ensemble_.messages(worker.process)
      .Heartbeat({HeartbeatRequest::Kind::kJoin, number, kTenant, "worker"},
                 Hear<messages::HeartbeatReply>(
                     worker.process, [this, &worker, number](const auto& result) {
                       if (!result.ok() || worker.number != 0) return;
                       book_.Beaten(Seen(), number, result.value().alive);
                       worker.number = number;
                     }));
}

void MessageRun::Beat(Worker& worker) {
  const std::int64_t number = worker.number;
  ensemble_.messages(worker.process)
      .Heartbeat({HeartbeatRequest::Kind::kBeat, number, kTenant, "worker"},
                 Hear<messages::HeartbeatReply>(
                     worker.process, [this, &worker, number](const auto& result) {
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
  ensemble_.messages(worker.process)
      .Claim(request, nullptr,
             Hear<ClaimReply>(worker.process, [this, &worker, request](const auto& result) {
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
    ensemble_.messages(worker.process)
        .Started({kTenant, batch.claim, static_cast<std::int64_t>(begun)},
                 Hear<messages::StartedReply>(
                     worker.process, [&worker, claim = batch.claim, begun](const auto& result) {
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
    const Verdict verdict = Chance(80) ? Verdict::kDone : Verdict::kRetry;
    return SendReports(worker.process, verdict, {batch.messages[Random(batch.begun)]});
  }
}

void MessageRun::Cancel(std::size_t process) {
  if (timers_.empty()) return;
  const std::size_t back = std::min<std::size_t>(timers_.size(), 6);
  const base::Uuid id = timers_[timers_.size() - 1 - Random(back)];
  Trace(fmt::format("{} is to be cancelled", book_.NameOf(id)));
  book_.AskCancel(id);
  ensemble_.messages(process).Cancel(
      {kTenant, id}, nullptr, Hear<messages::CancelReply>(process, [this, id](const auto& result) {
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
  ensemble_.messages(process).ChangeTopic(
      change, nullptr,
      Hear<messages::TopicChangeReply>(process, [this, change, nth](const auto& result) {
        // A later one may have been carried out in the same transaction.
        if (result.ok() && nth == pauses_) book_.Paused(Seen(), change.name, *change.paused);
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
  ensemble_.messages(process).ChangeDead(std::move(request), nullptr, [](const auto&) {});
}

}  // namespace tenure::sim
