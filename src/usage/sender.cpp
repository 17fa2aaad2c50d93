#include "usage/sender.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/mutex.hpp"
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

/// What a round came to.
struct Sender::RoundResult {
  bool failed = false;
  std::int64_t retry_after_ms = 0;
  std::string error{};
};

/// The last of its chunks to end goes on.
struct Sender::Round {
  explicit Round(std::size_t chunks) : open(chunks) {}

  base::Mutex mutex;
  std::size_t open TENURE_GUARDED_BY(mutex);
  RoundResult result TENURE_GUARDED_BY(mutex);
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
           .settle =
               [&messages](messages::SettleRequest request, auto done) {
                 messages.Settle(std::move(request), nullptr, std::move(done));
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
  auto round = std::make_shared<Round>(claimed.size());
  for (const auto& message : claimed)
    delivery_.Deliver(message, [this, round](Delivered delivered) {
      Count(delivered);
      RoundResult ended;
      {
        const base::Lock lock(round->mutex);
        if (delivered.outcome == ChunkOutcome::kFailed) {
          round->result.failed = true;
          round->result.error = delivered.error;
          round->result.retry_after_ms =
              std::max(round->result.retry_after_ms, delivered.retry_after_ms.value_or(0));
        }
        if (--round->open > 0) return;
        ended = std::move(round->result);
      }
      Ended(ended);
    });
}

void Sender::Ended(const RoundResult& round) {
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
    case ChunkOutcome::kAcknowledged:
      return probe.Acknowledged();
    case ChunkOutcome::kHalved:
      return probe.Halved();
    case ChunkOutcome::kRefused:
      base::LogError("usage.refused", "the receiver refuses a usage record; see GET /usage/refused",
                     {{"detail", delivered.error}});
      return probe.Refused();
    case ChunkOutcome::kFailed:
      return probe.Failed();
    case ChunkOutcome::kSkipped:
    case ChunkOutcome::kDropped:
      return;
  }
}

}  // namespace tenure::usage
