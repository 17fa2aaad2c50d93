#include "messages/messages.hpp"

#include <utility>

#include "messages_sql/queries.hpp"

namespace tenure::messages {
namespace {

/// How often it is written down that a topic is asked for.
constexpr std::int64_t kTouchMs = 60'000;
constexpr std::int64_t kOwnerMemoryMs = 7LL * 24 * 3'600'000;

bool HasKeys(const EnqueueRequest& request) {
  for (const NewMessage& each : request.messages)
    if (!each.dedup_key.empty()) return true;
  return false;
}

}  // namespace

Messages::Messages(db::Store& store, wake::Registry& wake, std::string process,
                   const base::Clock& clock, telemetry::Registry& metrics, const Options& options)
    : store_(store),
      wake_(wake),
      process_(std::move(process)),
      clock_(clock),
      probe_(metrics, options.show_topics),
      topic_cache_(store.engine(), clock),
      consumers_(*this, store.engine().name() == "postgres", wake, clock, options.poll_max_ms),
      scheduler_(*this, store.engine().name() == "postgres", wake, clock, options.poll_max_ms) {}

void Messages::Enqueue(EnqueueRequest request, base::Caller caller, Callback<EnqueueReply> done) {
  auto& enqueue = HasKeys(request) ? enqueue_keyed_ : enqueue_;
  enqueue(std::move(request), std::move(caller), std::move(done));
}

void Messages::Claim(ClaimRequest request, base::Caller caller, Callback<ClaimReply> done) {
  Touch(request);
  claim_(std::move(request), std::move(caller), std::move(done));
}

/// Once a minute it is written down that the topic is asked for; by itself, so that no claim waits
/// for a topic's row.
void Messages::Touch(const ClaimRequest& request) {
  TouchRequest touch;
  {
    const base::Lock lock(mutex_);
    const std::int64_t now_boot_ms = clock_.BootMs();
    for (const std::string& topic : request.topics) {
      std::int64_t& next = next_touch_[{request.tenant, topic}];
      if (now_boot_ms < next) continue;
      next = now_boot_ms + kTouchMs;
      touch.topics.emplace_back(request.tenant, topic);
    }
    if (next_touch_.size() > 100'000) next_touch_.clear();
  }
  if (touch.topics.empty()) return;
  touch_(std::move(touch), [](const auto&) {});
}

void Messages::Stop() {
  scheduler_.Stop();
  consumers_.Stop();
}

db::Swept Tidy(db::Transaction& tx, const TidyRequest& request, std::int64_t now_ms) {
  db::Swept swept;
  swept.Add(tx.Run(sql::kForgetFinished, now_ms, db::kSweepRows).size());
  swept.Add(tx.Run(sql::kForgetKeys, now_ms, db::kSweepRows).size());
  swept.Add(tx.Run(sql::kForgetRedriven, now_ms - request.redriven_ms, db::kSweepRows).size());
  swept.Add(tx.Run(sql::kForgetOwners, now_ms - kOwnerMemoryMs, db::kSweepRows).size());
  swept.Add(tx.Run(sql::kForgetWaiters, now_ms - kOwnerMemoryMs).size());
  return swept;
}

}  // namespace tenure::messages
