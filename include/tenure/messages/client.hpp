#pragma once

#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tenure/messages/errors.hpp"
#include "tenure/messages/message.hpp"

namespace tenure::messages {

struct ClientOptions {
  Milliseconds timeout{10'000};  ///< for one call, connecting included; Claim: longer by its wait
  /// postgres:// only: the address is a transaction pooler's (PgBouncer). Nothing is remembered
  /// between transactions then, and news are polled for.
  bool pooled = false;
  /// https:// only: a file in PEM with the authorities whose certificates count, instead of the
  /// system's.
  std::string ca_file{};
  /// http:// only: a token may be sent to another machine in clear text, where everybody on the way
  /// can read it.
  bool insecure = false;
};

/// Which messages, and for how long.
struct ClaimOptions {
  std::vector<std::string> topics{};
  int max = 50;  ///< 1 to 1000
  /// How long to wait when there is nothing.
  Milliseconds wait{0};
  /// How long they are held; none: as the topic says (30 s). Extend prolongs it.
  std::optional<Milliseconds> lease{};
  std::string owner{};  ///< for people who look; empty: "host:pid"
};

/// Puts messages in, and takes them out by hand. Whoever just wants them to be handled takes a
/// Worker (worker.hpp), which also holds them for as long as it lives.
///
///   auto client = tenure::messages::Open("postgres://localhost/app");
///   client->Enqueue({.topic = "mail", .payload = R"({"to":"a@example.org"})"});
///   for (const Delivery& each : client->Claim({.topics = {"mail"}, .wait = 20s})) {
///     …
///     client->Acknowledge(each);
///   }
///
/// Every change is one atomic step in the store, and answered when it is durable. Calls block;
/// they throw Unavailable when the store cannot be reached or does not answer in time, AccessDenied
/// when a server does not take or does not honour the token, and std::invalid_argument for what no
/// store would take.
///
/// What was claimed and not reported before the lease ended comes back to the line, and counts as a
/// crash; three, and it is a dead letter.
///
/// Threads: any, at once. Whoever waits in Claim keeps nobody else waiting.
class Client {
 public:
  /// "postgres://…" (the tables of a server, which it makes where they are missing),
  /// "sqlite:///path/to/file" (shared by the processes of one machine), "http(s)://[token@]host".
  explicit Client(std::string_view url, const ClientOptions& options = {});
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  Enqueued Enqueue(const Message& message);
  /// All of them or none; in their order. At most 1000.
  std::vector<Enqueued> Enqueue(std::span<const Message> messages);

  /// By priority, then in the order in which they became ready; empty when there was nothing. A
  /// message that ended a worker before comes alone. When `stop` is requested it returns soon.
  std::vector<Delivery> Claim(const ClaimOptions& options, std::stop_token stop = {});

  Outcome Acknowledge(const Delivery& delivery);
  std::vector<Outcome> Acknowledge(std::span<const Delivery> deliveries);
  /// It failed: again later, after the topic's back-off or `retry_after`, until its attempts are
  /// spent.
  Outcome Abandon(const Delivery& delivery, std::string_view error,
                  std::optional<Milliseconds> retry_after = {});
  /// It failed for good: a dead letter.
  Outcome Fail(const Delivery& delivery, std::string_view error);
  /// It was not begun: ready again at once, and nothing is counted.
  std::vector<Outcome> GiveBack(std::span<const Delivery> deliveries);
  /// Held for `lease` (none: as the topic says) from now on.
  std::vector<Outcome> Extend(std::span<const Delivery> deliveries,
                              std::optional<Milliseconds> lease = {});

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// The same as Client's constructor.
std::unique_ptr<Client> Open(std::string_view url, const ClientOptions& options = {});

}  // namespace tenure::messages
