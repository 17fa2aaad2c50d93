#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "messages/message.hpp"
#include "queues/session.hpp"

namespace tenure::queues {

using messages::PayloadKind;

/// A message that is to be put into a session.
struct NewMessage {
  std::string key{};
  std::string name{};    ///< printed; empty: the key
  std::string entity{};  ///< what the key is of
  std::string share{};   ///< of the turns
  /// Of an event that is stored elsewhere; then there is no payload, and `payload_bytes` is its size.
  std::optional<base::Uuid> event_id{};
  std::string payload{};
  PayloadKind kind = PayloadKind::kJson;
  std::int64_t payload_bytes = 0;
  std::string correlation_id{};
  std::string headers{};  ///< a JSON object, or empty
  std::string trace{};
  std::string dedup_key{};
  std::optional<std::int64_t> ttl_ms{};  ///< none: the queue's; 0: it never expires
  std::optional<base::Uuid> replay_of{};
  std::string copy{};

  std::int64_t size() const {
    return event_id ? payload_bytes : static_cast<std::int64_t>(payload.size());
  }
  std::size_t bytes() const {
    return db::BytesOf(key, name, entity, share, payload, correlation_id, headers, trace, dedup_key,
                       copy);
  }
};

/// What is said of an event in few words, beside its envelope.
struct EventNames {
  std::string type{};
  std::string action{};
  std::string delivery_id{};
  std::string payload_url{};  ///< where the payload is; empty: it stands last in the envelope
  std::int64_t payload_bytes = 0;

  /// Of the envelope; empty: it is not there.
  std::string_view PayloadIn(std::string_view envelope) const {
    const auto bytes = static_cast<std::size_t>(payload_bytes);
    if (bytes == 0 || envelope.size() <= bytes) return {};
    return envelope.substr(envelope.size() - 1 - bytes, bytes);
  }
};

/// A message in its place.
struct Message {
  std::int64_t sequence = 0;
  base::Uuid id{};
  std::optional<base::Uuid> event_id{};
  PayloadKind kind = PayloadKind::kJson;
  std::string payload{};
  std::int64_t payload_bytes = 0;
  std::string correlation_id{};
  std::string headers{};
  std::string trace{};
  std::int64_t enqueued_ms = 0;
  std::int64_t expires_ms = 0;
  std::optional<base::Uuid> replay_of{};
  std::string copy{};
  /// Of one that refers to an event: a JSON object with what is said of the event, and its payload
  /// or where that is (events.hpp). Empty where it was not asked for, or is gone.
  std::string envelope{};
  EventNames event{};  ///< with the envelope
};
inline constexpr auto kMessageColumns = db::Members(
    &Message::sequence, &Message::id, &Message::event_id, &Message::kind, &Message::payload,
    &Message::payload_bytes, &Message::correlation_id, &Message::headers, &Message::trace,
    &Message::enqueued_ms, &Message::expires_ms, &Message::replay_of, &Message::copy);

struct SendRequest {
  std::string tenant{};
  std::string queue{};
  std::vector<NewMessage> messages{};
  bool is_list = false;  ///< they came as a list, and are answered as one, be it of one

  std::size_t bytes() const { return db::BytesOf(tenant, queue, messages); }
};
struct SentMessage {
  base::Uuid id{};
  base::Uuid session{};
  std::int64_t sequence = 0;
  bool duplicate = false;  ///< all of it is of the earlier one with the same key
};
struct SendReply {
  enum class Kind { kSent, kNoQueue, kUnordered, kDraining, kFull };
  Kind kind = Kind::kSent;
  std::vector<SentMessage> messages{};  ///< in the order of the request
  bool is_list = false;
};

struct AcceptRequest {
  std::string tenant{};
  std::string queue{};
  std::string consumer{};
  std::int64_t max_sessions = 1;
  std::int64_t max_messages = kDefaultSlice;
  std::optional<std::int64_t> lease_ms{};  ///< none: the queue's
  /// The same again, while its holds last, is answered with those.
  std::optional<base::Uuid> accept_id{};
  // One that is chosen; at most one of the two.
  std::optional<base::Uuid> session{};
  std::string key{};

  bool is_chosen() const { return session || !key.empty(); }
  std::size_t bytes() const { return db::BytesOf(tenant, queue, consumer, key); }
};
/// A session in the hands of a consumer.
struct HeldSession {
  base::Uuid id{};
  std::string key{};
  std::string name{};
  std::string entity{};
  std::int64_t fence = 0;
  std::int64_t attempt = 1;  ///< of the head
  std::int64_t lease_until_ms = 0;
  std::int64_t depth = 0;
  std::optional<std::string> state{};
  std::vector<Message> messages{};
};
enum class Blocked { kNo, kCap, kPaused, kGeneration, kFrozen };
/// Why a chosen session is not to be had.
struct NotToBeHad {
  enum class Reason {
    kUnknown,
    kEmpty,
    kHeld,
    kParked,
    kBackoff,
    kReserved,
    kGeneration,
    kFrozen,
    kPaused,
    kCap,
    kLocked
  };
  Reason reason = Reason::kUnknown;
  std::string consumer{};
  std::int64_t until_ms = 0;
};
struct AcceptReply {
  enum class Kind { kDone, kNoQueue, kUnordered, kLeaseTooLong };
  Kind kind = Kind::kDone;
  std::int64_t most_lease_ms = 0;  ///< kLeaseTooLong
  std::vector<HeldSession> sessions{};
  Blocked blocked = Blocked::kNo;
  std::optional<NotToBeHad> unavailable{};
  std::int64_t now_ms = 0;
  std::int64_t asked_boot_ms = 0;  ///< no later than the store granted it
  bool is_leftover = false;  ///< it keeps no order any more: only what is left of before is here
  bool has_left = false;     ///< there is one that may be taken
  std::optional<std::int64_t> look_in_ms{};  ///< then somebody must ask again
};

/// What a holder, or an operator, says of a session.
struct Report {
  enum class Kind {
    kRenew,
    kComplete,
    kReceive,
    kRelease,
    kTransfer,
    kState,  ///< `state` is kept, nothing else happens
    kFail,
    // An operator's; they have no fence.
    kBreak,
    kResume,
    kSkip,
    kDiscard,
    kRewind,
    kClear,
  };
  Kind kind = Kind::kRenew;
  base::Uuid session{};
  std::int64_t fence = 0;
  std::int64_t sequence = 0;  ///< kComplete, kFail, kSkip, kRewind; kResume: 0: whichever it is
  std::optional<std::int64_t> complete_through{};
  std::optional<std::string> state{};
  bool keep = true;
  bool linger = false;
  std::int64_t max_messages = kDefaultSlice;
  std::int64_t lease_ms = 0;  ///< kRenew; 0: as before
  std::string to{};           ///< kTransfer
  std::int64_t for_ms = kDefaultReserveMs;
  std::int64_t delay_ms = 0;  ///< kResume
  bool rejected = false;      ///< kFail
  std::string error{};        ///< kFail; of an operator: why
  std::string error_class{};
  std::optional<std::int64_t> retry_after_ms{};

  std::size_t bytes() const { return db::BytesOf(state, to, error, error_class); }
};
struct ReportRequest {
  std::string tenant{};
  std::string queue{};
  std::vector<Report> items{};

  std::size_t bytes() const { return db::BytesOf(tenant, queue, items); }
};
struct ReportOutcome {
  enum class Kind {
    kDone,
    kUnknown,       ///< there is no such session in this queue
    kGone,          ///< finished earlier, perhaps by this very report
    kStale,         ///< the hold is over, and what it says does not count
    kOutOfOrder,    ///< beyond what was handed out
    kContended,     ///< a user's transaction has it locked
    kRefused,       ///< an operator's: the session is not as it must be
    kOrderLost,     ///< kRewind: something behind it is done; `why` names it
    kLeaseTooLong,  ///< kRenew: the queue has no leases of `lease_ms`
  };
  Kind kind = Kind::kUnknown;
  Lost lost = Lost::kHeld;
  Hold hold = Hold::kEnded;
  Then then = Then::kBackoff;
  std::int64_t until_ms = 0;
  std::int64_t most_lease_ms = 0;  ///< kLeaseTooLong
  SessionRow row{};                ///< as it is now
  std::string why{};               ///< kOrderLost
  std::vector<Message> messages{};
};
struct ReportReply {
  std::vector<ReportOutcome> outcomes{};  ///< in the order of the request
  std::int64_t now_ms = 0;
};

}  // namespace tenure::queues
