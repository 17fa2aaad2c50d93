#include "messages/waiting/consumers.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "messages/messages.hpp"

namespace tenure::messages {
namespace {

constexpr std::int64_t kUnsettledMs = 50;
constexpr std::int64_t kFirstPollMs = 250;
/// How long a flag lasts by itself, and how much of that must be left.
constexpr std::int64_t kFlagMs = 60'000;
constexpr std::int64_t kFlagLeftMs = 30'000;
/// Every look asks for each topic: a processor's tenth, once a second.
constexpr std::size_t kMaxWatchedTopics = 10'000;
/// Of each topic, after one was served.
constexpr std::size_t kSuccessors = 2;

std::vector<std::string> WakeKeys(const ClaimRequest& request) {
  std::vector<std::string> keys;
  keys.reserve(request.topics.size());
  for (const std::string& topic : request.topics) keys.push_back(WakeKey(request.tenant, topic));
  return keys;
}

}  // namespace

class Consumers::Waiter final : public Watcher {
 public:
  Waiter(Consumers& consumers, ClaimRequest request, base::Caller caller, Callback done)
      : Watcher({WakeKeys(request), "", caller.home}),
        consumers_(consumers),
        request_(std::move(request)),
        fences_(std::move(caller.fences)),
        done_(std::move(done)) {}

  TopicKey TopicOf(const std::string& key) const override {
    const auto& keys = place().keys;
    const auto found = std::find(keys.begin(), keys.end(), key);
    return {request_.tenant, request_.topics[static_cast<std::size_t>(found - keys.begin())]};
  }

  void Ask(bool, base::UniqueFunction<Answer> answered) override {
    consumers_.messages_.Claim(
        request_, {nullptr, fences_},
        [this, answered = std::move(answered)](db::Result<ClaimReply> result) mutable {
          result_ = std::move(result);
          answered(AnswerOf(*result_));
        });
  }
  void Finish(const base::Fault* fault) override {
    if (fault)
      done_(*fault);
    else
      done_(std::move(*result_));
  }
  void GiveBack() override {
    if (!result_->ok() || request_.claim_id || result_->value().messages.empty()) return;
    SettleRequest request{request_.tenant, Disposition::kUntouched, {}, {}};
    for (const ClaimedMessage& each : result_->value().messages)
      request.settlements.push_back({each.id, each.fence, {}, {}, {}});
    consumers_.messages_.Settle(std::move(request), nullptr, [](const auto&) {});
  }

 private:
  Answer AnswerOf(const db::Result<ClaimReply>& result) const {
    // The next one asks in its place.
    if (!result.ok()) return {.kind = Answer::Kind::kEnd, .ask_in_ms = 0};
    if (result.value().messages.empty())
      return {.kind = result.value().has_locked ? Answer::Kind::kLocked : Answer::Kind::kNotYet,
              .look_in_ms = consumers_.LookInMs(*this)};
    consumers_.PollSoon();
    return {.kind = Answer::Kind::kEnd, .successors = kSuccessors};
  }

  Consumers& consumers_;
  const ClaimRequest request_;
  const std::vector<base::Fence> fences_;
  Callback done_;
  std::optional<db::Result<ClaimReply>> result_;
};

Consumers::Consumers(Messages& messages, bool others_commit, wake::Registry& wake,
                     const base::Clock& clock, std::int64_t poll_max_ms)
    : messages_(messages),
      others_commit_(others_commit),
      clock_(clock),
      poll_max_ms_(poll_max_ms),
      poll_ms_(kFirstPollMs),
      room_(wake, clock, *this, {.max_keys = kMaxWatchedTopics}) {}

Consumers::Id Consumers::Add(ClaimRequest request, std::int64_t wait_ms, base::Caller caller,
                             Callback done) {
  request.waits = true;
  return Add(
      std::make_shared<Waiter>(*this, std::move(request), std::move(caller), std::move(done)),
      wait_ms);
}

Consumers::Id Consumers::Add(std::shared_ptr<Watcher> watcher, std::int64_t wait_ms) {
  PollSoon();
  return room_.Add(std::move(watcher), wait_ms);
}

void Consumers::Counted(std::int64_t waiting) { messages_.probe().Waiting(waiting); }

void Consumers::PollSoon() {
  const base::Lock lock(mutex_);
  poll_ms_ = kFirstPollMs;
}

std::int64_t Consumers::LookInMs(const Watcher& watcher) const {
  const base::Lock lock(mutex_);
  const auto& keys = watcher.place().keys;
  const bool flagged =
      !others_commit_ || std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
        mutex_.AssertHeld();
        return IsFlagged(key);
      });
  return flagged ? std::min(poll_ms_, poll_max_ms_) : 0;
}

bool Consumers::IsFlagged(const std::string& key) const {
  const auto flag = flags_.find(key);
  return flag != flags_.end() && flag->second.until_boot_ms >= clock_.BootMs() + kFlagLeftMs;
}

/// Topics that somebody waits for and others do not know of (for long), and those that nobody waits
/// for any more.
WatchRequest Consumers::NeededFlags() const {
  const auto firsts = room_.Firsts();
  WatchRequest request;
  request.for_ms = kFlagMs;
  const base::Lock lock(mutex_);
  auto flag = flags_.begin();  // both are in order of the keys
  for (const auto& [key, first] : firsts) {
    for (; flag != flags_.end() && flag->first < key; ++flag)
      request.leave.push_back(flag->second.topic);
    if (flag != flags_.end() && flag->first == key) ++flag;
    if (!IsFlagged(key)) request.watch.push_back(static_cast<const Watcher&>(*first).TopicOf(key));
  }
  for (; flag != flags_.end(); ++flag) request.leave.push_back(flag->second.topic);
  return request;
}

void Consumers::NoteFlags(const WatchRequest& request) {
  const base::Lock lock(mutex_);
  for (const TopicKey& topic : request.watch) {
    const Flag flag{topic, clock_.BootMs() + kFlagMs};
    if (!flags_.insert_or_assign(WakeKey(topic.first, topic.second), flag).second) continue;
    settled_ = false;
    noted_xmax_ = 0;
  }
  for (const TopicKey& topic : request.leave) flags_.erase(WakeKey(topic.first, topic.second));
}

void Consumers::Look(wake::Poller::Cause, LookDone done) {
  WatchRequest request;
  if (others_commit_) request = NeededFlags();
  if (request.watch.empty() && request.leave.empty()) {
    if (room_.Firsts().empty()) return done({});
    return LookAround(std::move(done));
  }
  messages_.Watch(request, [this, request,
                            done = std::move(done)](const db::Result<WatchReply>& result) mutable {
    if (result.ok()) NoteFlags(request);
    LookAround(std::move(done));
  });
}

/// Everybody asks, after it was seen which transactions are under way.
void Consumers::LookAround(LookDone done) {
  bool settled = true;
  {
    const base::Lock lock(mutex_);
    settled = settled_;
  }
  if (settled) return done(Everybody(WatchReply{}));  // there is nothing to learn from it
  messages_.Watch({},
                  [this, done = std::move(done)](const db::Result<WatchReply>& snapshot) mutable {
                    done(Everybody(snapshot));
                  });
}

wake::WaitingRoom::Found Consumers::Everybody(const db::Result<WatchReply>& snapshot) {
  const base::Lock lock(mutex_);
  const std::int64_t next_ms = settled_ ? poll_ms_ : kUnsettledMs;
  if (settled_) {
    poll_ms_ = std::min(poll_ms_ * 2, poll_max_ms_);
  } else if (snapshot.ok()) {
    if (noted_xmax_ == 0)
      noted_xmax_ = snapshot.value().xmax;
    else
      settled_ = snapshot.value().xmin >= noted_xmax_;
    if (noted_xmax_ == 0) settled_ = true;
  }
  return {.everybody = true, .next = {.in_ms = std::min(next_ms, poll_max_ms_)}};
}

}  // namespace tenure::messages
