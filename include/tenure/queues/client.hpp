#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tenure/queues/errors.hpp"
#include "tenure/queues/message.hpp"

namespace tenure::queues {

struct ClientOptions {
  Milliseconds timeout{10'000};  ///< for one call; Accept: longer by its wait
  /// postgres:// only: the address is a transaction pooler's (PgBouncer).
  bool pooled = false;
  /// https:// only: a file in PEM with the authorities whose certificates count.
  std::string ca_file{};
  /// http:// only: a token may be sent to another machine in clear text.
  bool insecure = false;
};

/// Which sessions, and for how long.
struct AcceptOptions {
  std::string consumer{};               ///< who it is for people who look; empty: "host:pid"
  int max_sessions = 1;                 ///< 1 to 100
  int max_messages = 10;                ///< of each session, 1 to 100
  Milliseconds wait{0};                 ///< how long to wait when there is nothing
  std::optional<Milliseconds> lease{};  ///< none: the queue's, which is also the longest
  std::string key{};                    ///< one that is chosen, by its key or printed name
};

/// Sends, and takes sessions by hand. Whoever just wants messages to be handled takes a Consumer
/// (consumer.hpp), which also keeps its holds for as long as it lives.
///
///   Client client("http://127.0.0.1:8080", "orders");
///   client.Send({.session_key = "customer-7", .payload = R"({"step":1})"});
///   for (const Held& held : client.Accept({.wait = 20s})) {
///     …
///     client.Complete(held, held.messages.back().sequence);
///   }
///
/// Every change is one atomic step in the store, and answered when it is durable. Calls block; they
/// throw Unavailable, AccessDenied, QueueRefused, and std::invalid_argument for what no store would
/// take.
///
/// Threads: any, at once.
class Client {
 public:
  /// "postgres://…" and "sqlite:///path" (the tables of a server), "http(s)://[token@]host".
  Client(std::string_view url, std::string queue, const ClientOptions& options = {});
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  Sent Send(const SessionMessage& message);
  /// All of them or none; of a session in their order. At most 1000.
  std::vector<Sent> Send(std::span<const SessionMessage> messages);

  /// Empty when there was nothing. When `stop` is requested it returns soon. A session that `key`
  /// names and that is not to be had is not in it either.
  std::vector<Held> Accept(const AcceptOptions& options = {}, std::stop_token stop = {});

  /// Everything up to `sequence` is done; the next messages are in the answer while the hold goes
  /// on. `state` is kept with the session, in the same transaction.
  Reported Complete(const Held& held, std::int64_t sequence, std::optional<std::string> state = {},
                    int max_messages = 10);
  /// The first message failed: again later, after the queue's back-off or `retry_after`.
  Reported Abandon(const Held& held, std::int64_t sequence, std::string_view error,
                   std::optional<Milliseconds> retry_after = {});
  /// It can never be processed.
  Reported DeadLetter(const Held& held, std::int64_t sequence, std::string_view error);
  /// Nothing is counted.
  Reported Release(const Held& held);
  /// Kept for this consumer, for so long.
  Reported Transfer(const Held& held, std::string_view to,
                    Milliseconds time = Milliseconds(30'000));
  /// Whether each is still held; then its lease begins anew.
  std::vector<bool> Renew(std::span<const Held> held);

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenure::queues
