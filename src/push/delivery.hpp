#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "messages/messages.hpp"
#include "push/circuit.hpp"
#include "push/courier.hpp"
#include "push/parcel.hpp"
#include "push/places.hpp"
#include "push/probe.hpp"
#include "push/pushed_sessions.hpp"
#include "push/reads.hpp"
#include "wake/registry.hpp"

namespace tenure::push {

/// What deliveries of a process share; outlives them.
struct DeliveryParts {
  messages::Messages& messages;
  queues::Queues& queues;
  wake::Registry& wake;
  const base::Clock& clock;
  Probe& probe;
  std::function<void(const Endpoint&, const Parcel&, std::function<bool()>, Courier::Done)>
      deliver;  ///< as Courier::Deliver
  std::function<void(std::uint64_t group)> give_up;
  std::function<void(const Endpoint&)> disable;  ///< the endpoint said that it is gone
  std::string process;
  Places& places;
};

/// The hold that a process has on a subscription.
struct Hold {
  std::int64_t fence = 0;
  base::Uuid term{};
  std::int64_t until_boot_ms = 0;  ///< as long as this has not come, nobody else has it
};

/// Delivers the messages of one subscription, for as long as this process holds its lease: claims,
/// sends, settles. Of an ordered queue it accepts sessions instead (pushed_sessions.hpp), as many as it may
/// send at once; a queue without order is its topic.
///
/// Invariants:
///  (1) Every claim carries the fence of the lease, so who has lost it claims nothing; and a request
///      begins only while `until_boot_ms` has not come (asked once more just before it leaves). So two
///      processes never send for one subscription at once, except what the loser had under way: that
///      is cut off before another can have it (deliverer.hpp).
///  (2) At most `max_in_flight` requests are under way, fewer when the circuit says so or the process has no
///      place. Claimed and not begun are at most as many again; they go back untouched when nothing may be
///      begun. What a claim brings of a topic that is not the subscription's any more goes back too.
///  (3) Every message that was claimed is settled, once the store can be reached: the claims are held
///      by the process's heartbeat, so nobody else would ever do it while the process lives. A claim
///      whose answer was lost is asked for again by its id, a settlement is repeated until the store has
///      decided it; `stale` and `gone` are decisions, too.
///  (4) A message is acknowledged only when its endpoint said 2xx, after the request that it answered.
///
/// A crash between any two steps: the heartbeat ends, the reaper makes the claims ready again, and the
/// next holder of the lease sends what had been sent already once more, with the same id.
///
/// Threads: any. It has none: it goes on wherever a step completes, and waits by the registry's timers.
class Delivery : public std::enable_shared_from_this<Delivery> {
 public:
  Delivery(const DeliveryParts& parts, Endpoint endpoint, const Hold& hold,
           const CircuitRow& circuit_boot, std::int64_t worker);

  void Start();
  void Renewed(std::int64_t until_boot_ms);
  /// The subscription is another now; a new url begins with a closed circuit.
  void Change(Endpoint endpoint);
  /// The process's heartbeats go on under another number; what was claimed under the old one is not ours.
  void ChangeWorker(std::int64_t worker);

  enum class Ending { kLetFinish, kCutOff };
  /// Begins nothing any more. Once `IsOver`, the lease may be given back.
  void End(Ending ending);
  bool HasEnded() const;
  bool IsOver() const;  ///< it has ended, and nothing is under way
  bool IsHeld() const;
  Hold hold() const;

  /// What there is to say since the last time; nothing: nothing.
  std::optional<Report> TakeReport();
  /// It could not be told.
  void TakeBack(const Report& report);
  const SubscriptionKey& key() const { return key_; }
  const base::Uuid& id() const { return id_; }

 private:
  using MessagePtr = std::shared_ptr<const Parcel>;
  using Queue = std::deque<MessagePtr>;
  struct Beginning {
    MessagePtr message{};
    Circuit::Ticket ticket = 0;
  };

  void Pump();
  std::optional<messages::ClaimRequest> NextClaim(std::int64_t may) TENURE_REQUIRES(mutex_);
  /// A question of which nobody knows whether it was carried out.
  enum class Asked { kFirst, kAgain, kUnfenced };
  void Claim(messages::ClaimRequest request, Asked asked);
  void ClaimOfTopic(const messages::ClaimRequest& request, Asked asked);
  void Accept(const messages::ClaimRequest& request, Asked asked);
  void Claimed(const messages::ClaimRequest& request, Asked asked,
               db::Result<std::vector<Parcel>> result);
  std::int64_t WaitOf(Asked asked) const;
  std::vector<base::Fence> FencesOf(Asked asked) const;
  /// The question has an answer, which brings nothing.
  void ForgetClaim(const base::Uuid& id);
  void TakeBeginnings(std::int64_t may, std::vector<Beginning>& begun) TENURE_REQUIRES(mutex_);
  /// Once it is over.
  void LeavePlaces() TENURE_REQUIRES(mutex_);
  void Begin(const Beginning& start, const std::shared_ptr<const Endpoint>& endpoint);
  void Ended(const Beginning& start, const std::shared_ptr<const Endpoint>& endpoint,
             Delivered delivered);
  void NoteAnswered(bool has_answered) TENURE_REQUIRES(mutex_);
  void SettleOne(const MessagePtr& message, AnswerKind kind, const std::string& shown);
  void Settle(messages::SettleRequest request);
  void GiveBack(Queue messages);
  /// What comes next of a session whose message was completed.
  void GoOn(std::optional<Parcel> next);
  void PumpAt(std::int64_t boot_ms);
  bool HoldsAt(std::int64_t boot_ms) const TENURE_REQUIRES(mutex_);

  const DeliveryParts& parts_;
  const SubscriptionKey key_;
  const base::Uuid id_;
  const std::shared_ptr<PushedSessions> sessions_;

  mutable base::Mutex mutex_;
  std::shared_ptr<const Endpoint> endpoint_ TENURE_GUARDED_BY(mutex_);
  Hold hold_ TENURE_GUARDED_BY(mutex_);
  Circuit circuit_ TENURE_GUARDED_BY(mutex_);  // its times are boot time
  std::int64_t worker_ TENURE_GUARDED_BY(mutex_);
  Queue queue_ TENURE_GUARDED_BY(mutex_);  // claimed and not begun
  // Of sessions: completions that may bring the next message.
  std::int64_t completing_ TENURE_GUARDED_BY(mutex_) = 0;
  bool has_started_ TENURE_GUARDED_BY(mutex_) = false;
  bool keeps_order_ TENURE_GUARDED_BY(mutex_) = true;  // of a queue; as its last answer said
  std::int64_t under_way_ TENURE_GUARDED_BY(mutex_) = 0;
  // The claim that is under way; one of a topic before is none any more, and what it brings goes back.
  std::optional<base::Uuid> claiming_ TENURE_GUARDED_BY(mutex_);
  bool has_ended_ TENURE_GUARDED_BY(mutex_) = false;
  bool is_cut_off_ TENURE_GUARDED_BY(mutex_) = false;
  bool has_left_ TENURE_GUARDED_BY(mutex_) = false;           // the places
  std::int64_t timer_boot_ms_ TENURE_GUARDED_BY(mutex_) = 0;  // of the Pump that is to come
  Report report_ TENURE_GUARDED_BY(mutex_);
  std::int64_t last_boot_ms_ TENURE_GUARDED_BY(mutex_) = 0;
  bool has_news_ TENURE_GUARDED_BY(mutex_) = false;
};

}  // namespace tenure::push
