#include "sim/message_run.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace tenure::sim {
namespace {

using messages::Disposition;

constexpr std::int64_t kPollMaxMs = 1'000;
constexpr std::int64_t kKeepMs = 1'000'000'000;
constexpr std::int64_t kDedupMs = 5'000;
constexpr std::int64_t kMaxAttempts = 3;
constexpr std::int64_t kMaxCrashes = 2;

/// A bug of a statement, played by the store itself.
const char* TriggerOf(MessageRun::Planted planted) {
  switch (planted) {
    case MessageRun::Planted::kExtensionIsForgotten:
      return "create trigger planted after update of lease_until_ms on messages "
             "when old.lease_until_ms > 0 and new.lease_until_ms > old.lease_until_ms begin "
             "update messages set lease_until_ms = old.lease_until_ms where id = new.id; end";
    case MessageRun::Planted::kTimerFiresTwice:
      return "create trigger planted after update of pos on messages "
             "when old.pos = 0 and new.pos > 0 and old.fence = 0 begin "
             "insert into messages (id, topic_id, line, pos, due_ms, enqueued_ms, fence, "
             "lease_until_ms, worker, claimed_ms, attempts, crashes, payload_kind, payload, "
             "correlation_id, headers, trace, error) select randomblob(16), topic_id, line, pos, "
             "due_ms, enqueued_ms, 0, 0, 0, 0, 0, 0, payload_kind, payload, '', '', '', '' "
             "from messages where id = new.id; end";
    case MessageRun::Planted::kClaimIsNotHeld:
      return "create trigger planted after update of fence on messages begin "
             "update messages set lease_until_ms = 0 where id = new.id; end";
    case MessageRun::Planted::kEverythingCrashes:
      return "create trigger planted after update of crashes on messages "
             "when old.lease_until_ms > 0 and new.lease_until_ms = 0 and new.error = '' "
             "and new.crashes = old.crashes and new.attempts = old.attempts begin "
             "update messages set crashes = new.crashes + 1 where id = new.id; end";
    case MessageRun::Planted::kKeysAreForgotten:
      return "create trigger planted after insert on messages begin delete from message_keys; end";
    case MessageRun::Planted::kPauseIsIgnored:
      return "create trigger planted after update of paused_ms on topics "
             "when new.paused_ms > 1 begin "
             "update topics set paused_ms = 0 where topic_id = new.topic_id; end";
    default:
      return "";
  }
}

}  // namespace

MessageRun::MessageRun(Ensemble& ensemble, std::uint64_t seed, Planted planted)
    : SeedRun(ensemble, seed, kSteps),
      planted_(planted),
      book_({.max_attempts = kMaxAttempts,
             .max_crashes = kMaxCrashes,
             .dedup_ms = kDedupMs - kSlowestCommitMs},
            [this](const std::string& what) { Violation(what); }) {
  clock().Advance(10'000);
  Weather weather;
  weather.crash = Pick({0, 3, 10});
  weather.lost_reply = Pick({0, 5, 15});
  weather.slow = Pick({0, 5, 15});
  weather.unavailable = Pick({0, 2, 8});
  weather.slowest_commit_ms = kSlowestCommitMs;
  ensemble.tables().Empty({"messages", "dead_letters", "finished_messages", "message_claims",
                           "message_workers", "message_keys", "message_owners", "topics"});
  // What a process remembers of earlier runs must play no part.
  for (std::size_t i = 0; i < kProcesses; ++i) Restart(i);
  for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i].process = i % kProcesses;
  ensemble.tables().Ask("drop trigger if exists planted");
  if (*TriggerOf(planted_)) ensemble.tables().Ask(TriggerOf(planted_));
  Begin(weather);
  Prepare();
}

MessageRun::~MessageRun() {
  // Those who still wait are told when their process goes.
  HearNothing();
  for (std::size_t i = 0; i < kProcesses; ++i) messages(i).Stop();
}

std::unique_ptr<Server> MessageRun::Boot(Ensemble::Process& process) {
  return std::make_unique<MessageServer>(process);
}

void MessageRun::Prepare() {
  SetCalm(true);
  for (const char* topic : {"a", "b"}) {
    messages::TopicChange change;
    change.tenant = kTenant;
    change.name = topic;
    change.max_attempts = kMaxAttempts;
    change.max_crashes = kMaxCrashes;
    change.dedup_ms = kDedupMs;
    change.retention_ms = *topic == 'a' ? kKeepMs : 0;
    messages(0).ChangeTopic(change, nullptr, Hear(0));
  }
  DriveAndCheck(0);
  SetCalm(false);
}

void MessageRun::Step() {
  const auto roll = Random(100);
  clock().Advance(roll < 60 ? RandomMs(30) : roll < 93 ? RandomMs(900) : RandomMs(9'000));
  if (Chance(2)) clock().StepWall(RandomMs(4'000) - 2'000);
  const std::size_t process = Random(kProcesses);
  Act(process);
  // What arrived may wait for its turn, and shares its transaction with what comes meanwhile.
  if (Chance(70)) DriveAndCheck(process);
}

void MessageRun::Act(std::size_t process) {
  const auto roll = Random(100);
  if (roll < 18) return Enqueue(process);
  if (roll < 30) return Pull(process);
  if (roll < 33) return PullAgain(process);
  if (roll < 39) return Wait(process);
  if (roll < 40) return Leave(process);
  if (roll < 56) return ReportSome(process);
  if (roll < 76) return Work(workers_[Random(workers_.size())]);
  if (roll < 82) return messages(process).PromoteSome(Hear(process));
  if (roll < 90) return messages(process).ReapSome({!Chance(15)}, Hear(process));
  Operate(process);
}

void MessageRun::Operate(std::size_t process) {
  const auto roll = Random(10);
  if (roll < 3) return Cancel(process);
  if (roll < 5) return Pause(process, true);
  if (roll < 7) return Pause(process, false);
  ChangeDead(process);
}

void MessageRun::DriveAndCheck(std::size_t process) {
  if (planted_ == Planted::kMarksPassOver) PassMarksOver(process);
  Drive(process);
  CheckWaiting(process);
}

void MessageRun::PassMarksOver(std::size_t process) {
  auto& topic_cache = messages(process).topic_cache();
  for (const char* topic : {"a", "b"}) {
    for (const auto& line : topic_cache.LinesOf(kTenant, topic).lines)
      topic_cache.Emptied(kTenant, topic, {line.line, messages::TopicCache::kTop});
    topic_cache.RescanTook(kTenant, topic, 1'000'000);  // too dear to be done again
  }
}

void MessageRun::OnCrash(std::size_t process) {
  std::erase_if(waiting_, [&](const Waiting& each) { return each.process == process; });
}

void MessageRun::OnCommitted() {
  auto& tables = ensemble().tables();
  tables.Ask("begin");
  book_.Committed(queries(),
                  ReadPicture(tables, kTenant, tables.Number("select now_ms from clock_mark")),
                  Now());
  tables.Ask("commit");
}

/// Nobody sleeps on something for longer than the longest pause between two looks.
void MessageRun::CheckWaiting(std::size_t process) {
  for (const Waiting& each : waiting_) {
    if (each.process != process) continue;
    const auto ready_boot_ms = book_.ReadySince(each.topics);
    if (ready_boot_ms && Now() - std::max(*ready_boot_ms, each.since_boot_ms) > kPollMaxMs)
      Violation(fmt::format("a claim waits, and something has been ready for {} ms",
                            Now() - *ready_boot_ms));
  }
}

/// One healthy consumer gets and finishes all that is left.
void MessageRun::Settle() {
  if (has_violations()) return;
  for (std::size_t i = 0; i < kProcesses; ++i) DriveAndCheck(i);
  for (const char* topic : {"a", "b"}) {
    messages::TopicChange change;
    change.tenant = kTenant;
    change.name = topic;
    change.paused = false;
    messages(0).ChangeTopic(change, nullptr, Hear(0));
  }
  DriveAndCheck(0);
  const auto is_left = [this] {
    const auto& all = book_.picture().messages;
    return std::any_of(all.begin(), all.end(), [](const auto& entry) {
      return entry.second.place != Place::kDead && entry.second.place != Place::kFinished;
    });
  };
  constexpr int kMostRounds = 10;
  for (int round = 0; round < kMostRounds && !has_violations(); ++round) {
    DrainOnce();
    if (!is_left() && book_.picture().claims.empty() && book_.picture().workers.empty()) return;
  }
  if (has_violations()) return;
  Violation(is_left() ? "M1: something is left that nobody can have"
                      : "a claim of which nothing is held, or a dead worker, stays on record");
}

void MessageRun::DrainOnce() {
  clock().Advance(31'000);
  messages(0).ReapSome({true}, Hear(0));
  DriveAndCheck(0);
  messages(0).PromoteSome(Hear(0));
  DriveAndCheck(0);
  for (bool any = true; any && !has_violations();) {
    any = false;
    messages::ClaimRequest request = NewClaim();
    request.topics = {"a", "b"};
    request.max = 5;
    messages(0).Claim(request, nullptr, Hear(0, [&](const auto& result) {
                        if (!result.ok()) return Violation("a claim was refused in calm weather");
                        OnClaimed(request, result.value());
                        std::vector<Claim> claims;
                        for (const auto& each : result.value().messages)
                          claims.emplace_back(each.id, each.fence);
                        any = !claims.empty();
                        if (any) SendReports(0, Disposition::kDone, claims);
                      }));
    DriveAndCheck(0);
  }
}

}  // namespace tenure::sim
