#include "client/queues/hands.hpp"

#include <algorithm>

namespace tenure::client {

InHandPtr Hands::Take(const Held& held, std::int64_t sent_ms) {
  auto hand = std::make_shared<InHand>();
  hand->session = held.session;
  hand->fence = held.fence;
  hand->until_ms = sent_ms + lease_ms_;
  base::Lock lock(mutex_);
  waiting_.push_back(hand);
  dropped_.wait(lock.native(), [&] {
    mutex_.AssertHeld();
    return !by_session_.contains(hand->session);
  });
  std::erase(waiting_, hand);
  by_session_[hand->session] = hand;
  return hand;
}

void Hands::Drop(const InHandPtr& hand) {
  const base::Lock lock(mutex_);
  by_session_.erase(hand->session);
  dropped_.notify_all();
}

bool Hands::IsHeld(const InHand& hand) const {
  const base::Lock lock(mutex_);
  return !hand.lost && clock_.NowMs() < hand.until_ms;
}

std::vector<InHandPtr> Hands::Snapshot() const {
  const base::Lock lock(mutex_);
  std::vector<InHandPtr> hands;
  for (const auto& [session, hand] : by_session_)
    if (!hand->lost) hands.push_back(hand);
  for (const InHandPtr& hand : waiting_)
    if (!hand->lost) hands.push_back(hand);
  return hands;
}

template <class IsOver>
void Hands::LoseIf(const IsOver& is_over) {
  std::vector<InHandPtr> lost;
  {
    const base::Lock lock(mutex_);
    for (const auto& [session, hand] : by_session_)
      if (!hand->lost && is_over(hand)) lost.push_back(hand);
    for (const InHandPtr& hand : waiting_)
      if (!hand->lost && is_over(hand)) lost.push_back(hand);
    for (const InHandPtr& hand : lost) hand->lost = true;
    lost_ += std::ssize(lost);
  }
  for (const InHandPtr& hand : lost) hand->stop.request_stop();
}

void Hands::Renewed(const std::vector<InHandPtr>& hands, const std::vector<bool>& held,
                    std::int64_t sent_ms) {
  std::vector<InHandPtr> over;
  {
    const base::Lock lock(mutex_);
    for (std::size_t i = 0; i < hands.size(); ++i)
      if (held[i])
        hands[i]->until_ms = std::max(hands[i]->until_ms, sent_ms + lease_ms_);
      else
        over.push_back(hands[i]);
  }
  LoseIf([&](const InHandPtr& hand) { return std::ranges::find(over, hand) != over.end(); });
}

void Hands::LoseOverdue() {
  const std::int64_t now_ms = clock_.NowMs();
  LoseIf([&](const InHandPtr& hand) { return now_ms >= hand->until_ms; });
}

void Hands::Lose(const InHandPtr& over) {
  LoseIf([&](const InHandPtr& hand) { return hand == over; });
}

void Hands::Hurry() {
  std::vector<InHandPtr> hands;
  {
    const base::Lock lock(mutex_);
    for (const auto& [session, hand] : by_session_) hands.push_back(hand);
  }
  for (const InHandPtr& hand : hands) hand->stop.request_stop();
}

std::int64_t Hands::count() const {
  const base::Lock lock(mutex_);
  return static_cast<std::int64_t>(by_session_.size());
}

std::int64_t Hands::lost() const {
  const base::Lock lock(mutex_);
  return lost_;
}

}  // namespace tenure::client
