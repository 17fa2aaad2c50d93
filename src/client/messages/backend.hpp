#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "messages/message.hpp"
#include "tenure/messages/client.hpp"

namespace tenure::client {

using messages::Delivery;
using messages::Enqueued;
using messages::Message;
using Milliseconds = std::chrono::milliseconds;
using messages::Disposition;
using messages::Outcome;

/// Who claims, and which messages.
struct MessageClaim {
  std::vector<std::string> topics{};
  std::int64_t max = 50;
  Milliseconds wait{0};
  std::optional<Milliseconds> lease{};
  std::string owner{};
  /// The hold (below) under which it is claimed; none: it lasts for the lease.
  std::optional<std::int64_t> hold{};
};
struct ClaimedMessages {
  std::string claim{};  ///< for Started
  std::vector<Delivery> messages{};
};

/// What became of a message that was claimed, beside the disposition.
struct Settlement {
  std::string id{};
  std::int64_t fence = 0;
  std::string error{};
  std::optional<Milliseconds> retry_after{};
};

/// A message that is held, for Renew.
struct HeldMessage {
  std::string id{};
  std::int64_t fence = 0;
  std::int64_t hold = 0;
};
struct RenewedHolds {
  std::vector<std::int64_t> lost_holds{};  ///< with everything that was claimed under them
  std::vector<std::string> lost{};         ///< ids of messages
};

/// Where the library's messages are kept, blocking. Throws messages::Unavailable,
/// messages::AccessDenied, and std::invalid_argument for what no store would take.
///
/// A worker's claims are made under a *hold*. On a store of our own that is a row which the
/// worker's heartbeat keeps alive, and all that was claimed under it with it; over HTTP it stands
/// for nothing, and Renew prolongs each message.
///
/// Threads: any, at once. `Join`, `Renew` and `Leave` share one connection that nothing else uses.
class MessageBackend {
 public:
  virtual ~MessageBackend() = default;

  virtual std::vector<Enqueued> Enqueue(std::span<const Message> messages,
                                        Milliseconds timeout) = 0;
  /// Returns soon after `stop` was requested; what was claimed all the same is in the answer, or
  /// given back.
  virtual ClaimedMessages Claim(const MessageClaim& claim, Milliseconds timeout,
                                std::stop_token stop) = 0;
  /// An outcome per settlement. `lease`: for kExtend.
  virtual std::vector<Outcome> Settle(Disposition disposition,
                                      std::span<const Settlement> settlements,
                                      std::optional<Milliseconds> lease, Milliseconds timeout) = 0;

  // For workers.

  /// A new hold. It lasts for `hold_time` from before this call on, and from before each Renew.
  virtual std::int64_t Join(const std::string& owner, Milliseconds timeout) = 0;
  /// Renews `current`, the holds of `held`, and the messages themselves.
  virtual RenewedHolds Renew(std::int64_t current, std::span<const HeldMessage> held,
                             Milliseconds timeout) = 0;
  virtual void Leave(std::int64_t hold, Milliseconds timeout) = 0;
  /// The first `count` messages of a claim count a crash if we die from now on; those behind do
  /// not. Must be answered before they are begun.
  virtual void Started(const std::string& claim, std::int64_t count, Milliseconds timeout) = 0;

  /// Whether holds are kept alive by a heartbeat: a claim lasts as long as its hold, and messages
  /// are marked when they are begun. False: a claim lasts for the lease from its own time on, each
  /// message is renewed by itself, and whatever is in hand counts a crash.
  virtual bool beats() const = 0;
  virtual Milliseconds hold_time() const = 0;
  virtual Milliseconds renew_every() const = 0;
};

struct MessageBackendOptions {
  bool pooled = false;
  Milliseconds lease{30'000};  ///< over HTTP, of a worker
  std::string ca_file{};       ///< over HTTP
  bool insecure = false;       ///< over HTTP
};

/// By URL (client.hpp). Throws Unavailable when a store of our own cannot be prepared.
std::unique_ptr<MessageBackend> OpenMessages(std::string_view url,
                                             const MessageBackendOptions& options);

}  // namespace tenure::client
