#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tenure/queues/client.hpp"

namespace tenure::client {

using Milliseconds = std::chrono::milliseconds;
using queues::Held;
using queues::Reported;
using queues::SessionMessage;

/// Who accepts, and which sessions.
struct SessionAccept {
  std::string consumer{};
  int max_sessions = 1;
  int max_messages = 10;
  Milliseconds wait{0};
  std::optional<Milliseconds> lease{};
  std::string key{};  ///< one that is chosen; empty: any
};

/// What a holder says of a session.
struct SessionReport {
  enum class Kind { kComplete, kAbandon, kDeadLetter, kRelease, kTransfer };
  std::string session{};
  std::int64_t fence = 0;
  std::int64_t sequence = 0;                       ///< kComplete, kAbandon, kDeadLetter
  std::optional<std::int64_t> complete_through{};  ///< the others
  std::optional<std::string> state{};              ///< kComplete
  bool keep = true;                                ///< kComplete
  int max_messages = 10;                           ///< kComplete
  std::string error{};
  std::optional<Milliseconds> retry_after{};
  std::string to{};  ///< kTransfer
  Milliseconds time{30'000};
};

struct HeldFence {
  std::string session{};
  std::int64_t fence = 0;
};

/// Where the sessions of one ordered queue are kept, blocking. Throws queues::Unavailable,
/// queues::AccessDenied, queues::QueueRefused, and std::invalid_argument for what no store would
/// take.
///
/// Threads: any, at once. `Renew` waits behind nothing else.
class QueueBackend {
 public:
  virtual ~QueueBackend() = default;

  virtual std::vector<queues::Sent> Send(std::span<const SessionMessage> messages,
                                         Milliseconds timeout) = 0;
  /// Returns soon after `stop` was requested; what was accepted all the same is in the answer, or
  /// given back.
  virtual std::vector<Held> Accept(const SessionAccept& accept, Milliseconds timeout,
                                   std::stop_token stop) = 0;
  /// One report each; all of one kind.
  virtual Reported Report(SessionReport::Kind kind, const SessionReport& report,
                          Milliseconds timeout) = 0;
  /// Whether each is still held.
  virtual std::vector<bool> Renew(std::span<const HeldFence> held,
                                  std::optional<Milliseconds> lease, Milliseconds timeout) = 0;
};

/// By URL (tenure/queues/client.hpp).
std::unique_ptr<QueueBackend> OpenQueue(std::string_view url, const std::string& queue,
                                        const queues::ClientOptions& options);

/// "host:pid" for an empty name.
std::string ConsumerName(const std::string& name);

}  // namespace tenure::client
