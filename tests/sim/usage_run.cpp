#include "sim/usage_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tasks/task.hpp"

namespace tenure::sim {
namespace {

constexpr int kSteps = 45;
constexpr std::int64_t kMinuteMs = 60'000;
/// The second does not divide the first.
constexpr std::array<std::int64_t, 3> kIntervalsMs{kMinuteMs, 45'000, 3 * kMinuteMs};
constexpr std::int64_t kSlowestCommitMs = 20'000;
constexpr std::int64_t kNeverMs = 100'000'000'000;

/// A bug of a statement, played by the store itself.
const char* TriggerOf(PlantedInUsage planted) {
  switch (planted) {
    case PlantedInUsage::kChunkIsForgotten:
      return "create trigger planted after insert on usage_chunks when new.chunk like '%.1' begin "
             "delete from usage_chunks where number = new.number and chunk = new.chunk; end";
    case PlantedInUsage::kFactorReachesBack:
      return "create trigger planted after insert on usage_factors when new.from_ms > 0 begin "
             "update usage_factors set from_ms = new.from_ms - 300000 "
             "where kind = new.kind and from_ms = new.from_ms; end";
    case PlantedInUsage::kRemovedBeforeTaken:
      return "create trigger planted after update of settled_ms on session_bounds begin "
             "update session_bounds set settled_ms = sealed_ms; end";
    case PlantedInUsage::kWindowIsSkipped:
      return "create trigger planted after insert on usage_windows when new.number = 3 begin "
             "update usage_windows set number = 4 where number = 3; end";
    case PlantedInUsage::kEndIsMoved:
      return "create trigger planted after update of end_reason on sessions "
             "when new.end_reason < 3 and new.end_ms > new.start_ms begin "
             "update sessions set end_ms = max(new.start_ms, new.end_ms - 60000) where id = "
             "new.id; end";
    default:
      return "";
  }
}

}  // namespace

UsageRun::UsageRun(UsageEnsemble& ensemble, base::ManualClock& clock, Options options)
    : ensemble_(ensemble),
      clock_(clock),
      options_(options),
      random_(options.seed * 0x9E3779B97F4A7C15ULL + 1) {
  clock_.Advance(kMinuteMs);
  begun_ms_ = clock_.BootMs();
  const auto pick = [&](std::initializer_list<int> of) { return of.begin()[Random(of.size())]; };
  crash_percent_ = pick({0, 3, 10});
  lose_percent_ = pick({0, 5, 15});
  slow_percent_ = pick({0, 5, 15});
  unavailable_percent_ = pick({0, 2, 8});
  is_late_ = Chance(20);

  settings_.sessions.duration_ms = 10 * kMinuteMs;
  settings_.sessions.retention_ms = is_late_ ? kNeverMs : 5 * kMinuteMs;
  settings_.usage.interval_ms = kIntervalsMs[Random(kIntervalsMs.size())];
  settings_.usage.factors = {1'000'000, 2'500'001, 98'765'432'101};
  settings_.usage.chunk_size = 1 + RandomMs(3);
  settings_.usage.chunks_per_step = 1 + RandomMs(2);
  settings_.usage.retention_ms = is_late_ ? kNeverMs : 8 * kMinuteMs;
  settings_.usage.send = !is_late_;

  ensemble_.hook = nullptr;
  ensemble_.Clear();
  ensemble_.Ask("drop trigger if exists planted");
  if (*TriggerOf(options_.planted)) ensemble_.Ask(TriggerOf(options_.planted));
  ensemble_.post = [this](std::size_t process, usage::Post post, UsageEnsemble::Answer answer) {
    pending_.push_back({process, std::move(post), std::move(answer)});
  };
  book_ = std::make_unique<UsageBook>(
      UsageBook::Tables{[this](const std::string& sql) { return ensemble_.Ask(sql); }, "",
                        "lower(hex({}))"},
      std::set<std::int64_t>(kIntervalsMs.begin(), kIntervalsMs.end()),
      [this](const std::string& what) { Violation(what); });
  for (int i = 0; i < 4; ++i) keys_.push_back({NewId(), NewId()});
  RestartAll();
}

UsageRun::~UsageRun() {
  ensemble_.hook = nullptr;
  pending_.clear();
}

std::string UsageRun::Execute() {
  for (int step = 0; step < kSteps && violations_.empty(); ++step) Step();
  if (violations_.empty()) Drain();
  if (violations_.empty()) book_->CheckEnd();
  return violations_;
}

void UsageRun::Step() {
  const auto roll = Random(100);
  clock_.Advance(roll < 50   ? RandomMs(500)
                 : roll < 85 ? RandomMs(20'000)
                 : roll < 98 ? RandomMs(kMinuteMs)
                             : RandomMs(20 * kMinuteMs));  // nobody was there
  if (Chance(2)) clock_.StepWall(RandomMs(4'000) - 2'000);
  const std::size_t process = Random(UsageEnsemble::kProcesses);
  Act(process);
  // What arrived may wait for its turn, and shares its transaction with what comes meanwhile.
  if (Chance(75)) Drive(process);
}

void UsageRun::Act(std::size_t process) {
  const auto roll = Random(100);
  if (roll < 22) return Put(process);
  if (roll < 30) return End(process);
  if (roll < 42) return Seal(process, 1 + static_cast<int>(Random(8)));
  if (roll < 54) return Emit(process, 1 + static_cast<int>(Random(8)));
  if (roll < 80) return Answer();
  if (roll < 83) return SetFactor(process);
  if (roll < 84) {
    settings_.usage.interval_ms = kIntervalsMs[Random(kIntervalsMs.size())];
    settings_.usage.send |= Chance(70);
    return RestartAll();
  }
  Upkeep(process);
}

void UsageRun::Upkeep(std::size_t process) {
  const auto roll = Random(6);
  if (roll == 0) return ensemble_.messages(process).PromoteSome([](const auto&) {});
  if (roll == 1) return ensemble_.messages(process).ReapSome({true}, [](const auto&) {});
  if (roll == 2) return ensemble_.sessions(process).ExpireSome({}, [](const auto&) {});
  if (roll == 3) return ensemble_.sessions(process).RemoveSome({}, [](const auto&) {});
  ensemble_.usage(process).Settle([](const auto&) {});
}

/// A process that crashes is there again at once: what it had in memory is gone.
void UsageRun::Drive(std::size_t process) {
  steps_to_crash_.reset();
  if (!calm_ && Chance(crash_percent_)) steps_to_crash_ = Random(40);
  try {
    ensemble_.Drive(process);
  } catch (const ProcessCrash&) {
    Trace(fmt::format("process {} crashes", process));
    RestartOne(process);
  }
}

void UsageRun::RestartOne(std::size_t process) {
  ensemble_.hook = nullptr;
  // Whoever takes its requests goes on with them; nobody hears the answers.
  std::erase_if(pending_, [&](const Pending& each) {
    if (each.process != process) return false;
    if (Chance(50)) book_->Received(each.post.idempotency_key, each.post.body, true);
    return true;
  });
  ensemble_.Restart(process, settings_);
  ensemble_.hook = [this](std::string_view step, UsageEnsemble::When when) { OnStep(step, when); };
}

void UsageRun::RestartAll() {
  Trace(fmt::format("all begin anew, with windows of {} ms{}", settings_.usage.interval_ms,
                    settings_.usage.send ? "" : " and no endpoint"));
  for (std::size_t i = 0; i < UsageEnsemble::kProcesses; ++i) RestartOne(i);
}

void UsageRun::OnStep(std::string_view step, UsageEnsemble::When when) {
  const bool after = when == UsageEnsemble::When::kAfter;
  if (step == "begin" && !after) queries_.clear();
  queries_.emplace(step);
  if (step == "commit" && after) return OnCommitted();
  if (calm_) return;
  if (steps_to_crash_ && (*steps_to_crash_)-- == 0) {
    Trace(fmt::format("{} {}", after ? "behind" : "before", step));
    throw ProcessCrash();
  }
  if (after || step != "commit") return;
  if (Chance(slow_percent_)) clock_.Advance(RandomMs(kSlowestCommitMs));
  if (Chance(unavailable_percent_)) {
    Trace("the store is lost before COMMIT");
    throw base::Fault(base::FaultKind::kStoreUnavailable, "simulated");
  }
}

void UsageRun::OnCommitted() {
  book_->Committed(queries_);
  if (calm_) return;
  if (steps_to_crash_ && (*steps_to_crash_)-- == 0) {
    Trace("behind commit");
    throw ProcessCrash();
  }
  if (!Chance(lose_percent_)) return;
  Trace("the reply is lost");
  throw base::Fault(base::FaultKind::kOutcomeUnknown, "simulated");
}

void UsageRun::Put(std::size_t process) {
  for (auto count = 1 + Random(3); count > 0; --count) {
    const sessions::PutRequest request{
        {}, keys_[Random(keys_.size())], static_cast<sessions::Kind>(1 + Random(3))};
    ensemble_.sessions(process).Put(request, nullptr,
                                    [this](db::Result<sessions::PutReply> result) {
                                      if (result.ok()) known_.push_back(result.value().session);
                                    });
  }
}

void UsageRun::End(std::size_t process) {
  if (known_.empty()) return;
  const std::size_t back = std::min<std::size_t>(known_.size(), 5);
  const sessions::Session& session = known_[known_.size() - 1 - Random(back)];
  ensemble_.sessions(process).End({session.id, session.key}, nullptr, [](const auto&) {});
}

void UsageRun::Seal(std::size_t process, int most) {
  ensemble_.usage(process).SealNext(
      [this, process, most](const db::Result<usage::SealReply>& result) {
        if (!result.ok() || !result.value().sealed) return;
        Trace(fmt::format("window {} is closed", result.value().sealed->number));
        if (most > 1) Seal(process, most - 1);
      });
}

/// What was found may be old by the time it is written.
void UsageRun::Emit(std::size_t process, int most) {
  ensemble_.usage(process).FindRanges([this, process, most](db::Result<usage::RangesReply> result) {
    if (!result.ok() || !result.value().window) return;
    ensemble_.usage(process).Emit(std::move(result.value()),
                                  [this, process, most](const auto& emitted) {
                                    if (emitted.ok() && most > 1) Emit(process, most - 1);
                                  });
  });
}

void UsageRun::SetFactor(std::size_t process) {
  const int kind = 1 + static_cast<int>(Random(3));
  const std::int64_t millionths = Chance(30) ? RandomMs(3'000'000) : RandomMs(90'000'000'000);
  Trace(fmt::format("kind {} is to cost {}", kind, millionths));
  ensemble_.usage(process).SetFactor(kind, millionths, nullptr, [](const auto&) {});
}

void UsageRun::Answer() {
  if (pending_.empty()) return;
  const auto at = pending_.begin() + static_cast<std::ptrdiff_t>(Random(pending_.size()));
  Pending pending = std::move(*at);
  pending_.erase(at);
  const auto roll = Random(100);
  const std::size_t process = pending.process;
  if (roll < 50) {
    AnswerWell(std::move(pending));
  } else {
    const bool takes = roll < 65;
    book_->Received(pending.post.idempotency_key, pending.post.body, takes);
    static constexpr std::array<int, 7> kStatuses{400, 413, 413, 422, 401, 429, 503};
    usage::PostReply reply{.error = "no answer"};
    if (!takes && Chance(85)) reply = {.status = kStatuses[Random(kStatuses.size())]};
    if (reply.status >= 429 && Chance(30)) reply.retry_after_ms = RandomMs(3 * kMinuteMs);
    if (options_.planted == PlantedInUsage::kSilenceIsConsent && reply.status == 0)
      reply.status = 200;
    Trace(fmt::format("{} is answered with {}{}", pending.post.idempotency_key, reply.status,
                      takes ? ", and taken" : ""));
    pending.answer(std::move(reply));
  }
  Drive(process);
}

void UsageRun::AnswerWell(Pending pending) {
  Trace(fmt::format("{} is taken", pending.post.idempotency_key));
  book_->Received(pending.post.idempotency_key, pending.post.body, true);
  pending.answer({.status = 200});
}

/// The faults stop: what has been is closed, emitted and taken.
void UsageRun::Drain() {
  calm_ = true;
  if (!settings_.usage.send) {
    settings_.usage.send = true;
    RestartAll();
  }
  clock_.Advance(2 * settings_.usage.interval_ms);
  Seal(0, 10'000);
  Drive(0);
  ensemble_.usage(0).Send({1}, nullptr, [](const auto&) {});
  Drive(0);
  Emit(0, 10'000);
  Drive(0);
  for (int round = 0; round < 60 && violations_.empty() && !book_->IsDelivered(); ++round) {
    clock_.Advance(10 * kMinuteMs);
    messages::DeadChangeRequest redrive;
    redrive.filter.tenant = tasks::kOwnTenant;
    ensemble_.messages(0).ChangeDead(redrive, nullptr, [](const auto&) {});
    ensemble_.messages(0).ReapSome({true}, [](const auto&) {});
    ensemble_.messages(0).PromoteSome([](const auto&) {});
    Drive(0);
    Drive(1);
    while (!pending_.empty() && violations_.empty()) {
      Pending pending = std::move(pending_.back());
      pending_.pop_back();
      const std::size_t process = pending.process;
      AnswerWell(std::move(pending));
      Drive(process);
    }
  }
}

base::Uuid UsageRun::NewId() {
  base::Uuid id;
  for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(random_());
  return id;
}

void UsageRun::Trace(const std::string& what) {
  if (options_.trace) trace_ += fmt::format("{:8} {}\n", clock_.BootMs() - begun_ms_, what);
}

void UsageRun::Violation(const std::string& what) {
  Trace("VIOLATION " + what);
  violations_ += fmt::format("  {:8} {}\n", clock_.BootMs() - begun_ms_, what);
}

}  // namespace tenure::sim
