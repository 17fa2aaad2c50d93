#include "usage/sender.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "tasks/task.hpp"

namespace tenure::usage {
namespace {

constexpr std::int64_t kRound = 16;
constexpr std::int64_t kWaitMs = 30'000;
/// Longer than a request to the receiver may take, with a lot to spare.
constexpr std::int64_t kLeaseMs = 60'000;
constexpr std::int64_t kStoreAwayMs = 1'000;
constexpr std::int64_t kPauseMs = 1'000;
constexpr std::int64_t kPauseMaxMs = 60'000;
constexpr std::string_view kTimer = "usage.sender";

}  // namespace

/// What a round came to; the last of its chunks to end goes on.
struct Sender::Round {
  std::mutex mutex{};
  // Guarded by mutex.
  std::size_t open = 0;
  bool failed = false;
  std::int64_t retry_after_ms = 0;
  std::string error{};
};

Sender::Sender(Usage& usage, messages::Messages& messages, wake::Registry& wake,
               std::string installation, PostFunction post)
    : usage_(usage),
      messages_(messages),
      wake_(wake),
      delivery_(
          {.load = [&usage](ChunkName name,
                            auto done) { usage.Load(std::move(name), std::move(done)); },
           .change = [&usage](ChunkChange change,
                              auto done) { usage.Change(std::move(change), std::move(done)); },
           .report =
               [&messages](messages::ReportRequest request, auto done) {
                 messages.Report(std::move(request), nullptr, std::move(done));
               },
           .post = std::move(post),
           .installation = std::move(installation)}) {}

void Sender::Start() { SetUp(); }

void Sender::SetUp() {
  messages::TopicChange change;
  change.tenant = tasks::kOwnTenant;
  change.name = kTopic;
  change.max_attempts = 0;
  change.max_crashes = 0;
  messages_.ChangeTopic(std::move(change), nullptr,
                        [this](const db::Result<messages::TopicChangeReply>& result) {
                          if (result.ok()) return Next();
                          PauseThen(kStoreAwayMs, &Sender::SetUp);
                        });
}

void Sender::Next() {
  if (stopping_) return;
  messages::ClaimRequest request;
  request.tenant = tasks::kOwnTenant;
  request.topics.emplace_back(kTopic);
  request.max = failures_ > 0 ? 1 : kRound;
  request.lease_ms = kLeaseMs;
  request.owner = messages_.process();
  messages_.ClaimWaiting(
      std::move(request), kWaitMs, nullptr,
      [this](db::Result<messages::ClaimReply> result) { Claimed(std::move(result)); });
}

void Sender::Claimed(db::Result<messages::ClaimReply> result) {
  if (!result.ok()) {
    if (result.fault().kind() == base::FaultKind::kStopping) return;
    return PauseThen(kStoreAwayMs, &Sender::Next);
  }
  const auto& claimed = result.value().messages;
  if (claimed.empty()) return Next();
  auto round = std::make_shared<Round>();
  round->open = claimed.size();
  for (const auto& message : claimed)
    delivery_.Deliver(message, [this, round](Delivered delivered) {
      Count(delivered);
      {
        const std::lock_guard lock(round->mutex);
        if (delivered.outcome == Outcome::kFailed) {
          round->failed = true;
          round->error = delivered.error;
          round->retry_after_ms =
              std::max(round->retry_after_ms, delivered.retry_after_ms.value_or(0));
        }
        if (--round->open > 0) return;
      }
      Ended(*round);
    });
}

void Sender::Ended(Round& round) {
  if (!round.failed) {
    if (failures_ > 0)
      base::LogInfo("usage.recovered", "the receiver of usage takes records again", {});
    failures_ = 0;
    return Next();
  }
  if (failures_ == 0)
    base::LogWarn("usage.failing",
                  "the receiver of usage does not take records; they are kept and sent again",
                  {{"detail", round.error}});
  failures_ = std::min<std::int64_t>(failures_ + 1, 16);
  const std::int64_t pause_ms = std::min(kPauseMs << (failures_ - 1), kPauseMaxMs);
  PauseThen(std::max(pause_ms, std::min(round.retry_after_ms, 10 * kPauseMaxMs)), &Sender::Next);
}

void Sender::PauseThen(std::int64_t pause_ms, void (Sender::*then)()) {
  if (stopping_) return;
  wake_.Wait(std::string(kTimer), messages_.clock().BootMs() + pause_ms,
             [this, then] { (this->*then)(); });
}

void Sender::Count(const Delivered& delivered) {
  Probe& probe = usage_.probe();
  switch (delivered.outcome) {
    case Outcome::kAcknowledged:
      return probe.Acknowledged();
    case Outcome::kHalved:
      return probe.Halved();
    case Outcome::kRefused:
      base::LogError("usage.refused", "the receiver refuses a usage record; see GET /usage/refused",
                     {{"detail", delivered.error}});
      return probe.Refused();
    case Outcome::kFailed:
      return probe.Failed();
    case Outcome::kSkipped:
    case Outcome::kDropped:
      return;
  }
}

}  // namespace tenure::usage
