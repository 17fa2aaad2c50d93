#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/task.hpp"
#include "http/message.hpp"

namespace tenure::http {

struct OutgoingOptions {
  /// Under way at a time, each with a connection of its own. Raise it when receivers are far away.
  std::size_t in_flight_max = 8;
  /// Waiting for their turn. Beyond either the answer is an error at once: whoever asks has its own
  /// memory of what is to be sent (the outbox), and this must not become a second one.
  std::size_t queue_items = 256;
  std::size_t queue_bytes = 32 << 20;
  std::string ca_file{};  ///< whose signatures count, instead of the system's certificates
  bool keep_system_authorities = false;  ///< those of `ca_file` count besides the system's
};

struct OutgoingRequest {
  Method method = Method::kPost;
  std::string url{};  ///< of an operator: see base::OperatorUrlProblem
  std::vector<std::pair<std::string, std::string>> headers{};
  std::string body{};                 ///< JSON, unless a header says what else; empty: none is sent
  std::int64_t timeout_ms = 10'000;   ///< from `Send` to the last byte of the answer
  std::size_t answer_max = 64 << 10;  ///< how many bytes of the answer are kept
  /// "192.0.2.1:443": connects there, whatever the host's name says; the certificate is still the
  /// host's. For addresses that were looked up and judged beforehand.
  std::string connect_to{};
  /// A status is an answer once its header is whole, be the body broken off, too long or too slow.
  bool status_decides = false;
  std::uint64_t group = 0;  ///< what `GiveUp` speaks of
  /// Before those that do not, however many wait. For receivers that answered the last time.
  bool goes_first = false;
  /// Asked on the thread of Outgoing just before the request begins; false: it does not.
  std::function<bool()> may_begin{};
};

struct OutgoingReply {
  int status = 0;          ///< 0: there was no whole answer
  std::string body{};      ///< at most `answer_max` bytes of it
  bool truncated = false;  ///< there was more
  /// Retry-After, in seconds or as a date, from now on; at most a day.
  std::optional<std::int64_t> retry_after_ms{};
  std::string error{};  ///< why there is no answer: for logs, never with a secret
  /// Without an answer: whether the server may have seen the request. False: it cannot have.
  bool maybe_received = false;
  /// Without an answer: whether it is this side that ended it, so that nothing is known of the other.
  enum class OwnDoing {
    kNone,
    kGivenUp,  ///< whoever sent it gave it up, or the program stops
    kTooMany,  ///< there was no place for it
  };
  OwnDoing own_doing = OwnDoing::kNone;

  bool acknowledged() const { return status >= 200 && status < 300; }
};

/// Sends requests to addresses that operators chose, without anybody waiting: libcurl's multi
/// interface on one thread. Verifies TLS; follows no redirect (3xx is an answer like any other),
/// takes no proxy from the environment, keeps connections for the next request.
///
/// Invariants:
///  (1) `done` runs exactly once for each `Send`, with no lock held: it may send again.
///  (2) `done` runs within `timeout_ms` of `Send` and the moment that other `done`s take, however
///      many wait: the time in the queue counts, and what is too late is not begun. So one receiver
///      that hangs delays the others by their own time-out at most, and those that go first not at all
///      while there is room: of the others a few are begun in a round of the thread, since each may cost
///      a handshake. (Only a name server that does
///      not answer can hold up the thread, and only when a request to it is given up.)
///  (3) A status means that the whole answer came, up to `answer_max` (or its header: see
///      `status_decides`). An answer that breaks off is none, whatever it had begun to say. (One whose length only the end of the connection tells
///      has no other end.)
///  (4) `maybe_received == false` means that no byte of the request left this process.
///
/// A request can arrive twice: a connection that was kept may turn out to be closed as the request
/// is written, and libcurl then repeats it on a new one; the server may have read the first. So
/// requests must be idempotent, by a key or by their nature.
///
/// Life: construct, Start, Stop. What is sent before Start waits. `Stop` cuts off what is under way
/// and completes everything with an error; what comes later is refused.
///
/// Threads: `Send` from any; the rest from the owner. `done` runs on the thread of this class; when
/// the request is refused (bad address or header, too many waiting, stopped) on the caller's,
/// before `Send` returns; and what `Stop` cuts off on the owner's, before that returns. So hold no
/// lock there that `done` needs. It must be short, must not throw and must not call `Stop`.
class Outgoing {
 public:
  using Done = base::UniqueFunction<OutgoingReply>;

  /// REQUIRES: the clock is the machine's; it is what the thread sleeps by.
  explicit Outgoing(OutgoingOptions options, const base::Clock& clock = base::SystemClock());
  ~Outgoing();
  Outgoing(const Outgoing&) = delete;
  Outgoing& operator=(const Outgoing&) = delete;

  void Start();
  void Stop();
  void Send(OutgoingRequest request, Done done);
  /// Cuts off what waits and what is under way of a group (not 0); each `done` runs soon, on the thread of
  /// this class. From any thread.
  void GiveUp(std::uint64_t group);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenure::http
