#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenure/leases/azure.hpp"
#include "tenure/leases/errors.hpp"
#include "tenure/leases/types.hpp"

namespace tenure::leases {

/// What a store gives, as data: a program that needs more than its provider has fails when it
/// starts, not when it matters (`Require`).
struct Guarantees {
  bool durable_fence = false;   ///< fences rise for ever, also over a crash of the store
  bool durable_grant = false;   ///< no crash or restart of the store forgets an answered grant
  bool store_time = false;      ///< deadlines are judged by one clock, the store's
  bool fifo = false;            ///< who waits longer is served first
  bool push = false;            ///< who waits is told of a release, without polling the store
  bool enforced_fence = false;  ///< the store can refuse a write under a stale fence
  bool tasks = false;           ///< `ClaimTask` and `FinishTask`
  bool crosses_hosts = false;   ///< holders may be on different machines
  /// How much later than its deadline a dead holder's lease can be had, at most.
  Milliseconds takeover_delay{0};
};

/// What a Tenure server and PostgreSQL give; a SQLite file does not cross hosts.
inline constexpr Guarantees kAllGuarantees{.durable_fence = true,
                                           .durable_grant = true,
                                           .store_time = true,
                                           .fifo = true,
                                           .push = true,
                                           .enforced_fence = true,
                                           .tasks = true,
                                           .crosses_hosts = true};

/// Throws UnfitStore that names what is missing, and `advice` where there is some. How late a
/// takeover may come is not compared.
void Require(const Guarantees& given, const Guarantees& wanted, std::string_view provider,
             std::string_view advice = {});

/// What a provider has done so far, in this process. A provider that does not count leaves it empty.
struct ProviderStats {
  /// Requests to the store of one kind ("acquire", "renew", …) and one end: "done", "refused" (an
  /// error that changed nothing), "unknown" (it may have been carried out).
  struct Requests {
    std::string operation;
    std::string outcome;
    std::int64_t count = 0;
    double seconds = 0;  ///< that they took together
  };
  std::vector<Requests> requests{};
  std::int64_t reconnects = 0;  ///< connections made in place of ones that broke
  std::int64_t conflicts =
      0;  ///< writes that came after another's, of stores with compare-and-swap
  std::int64_t throttled = 0;       ///< requests that the store put off
  double request_units = 0;         ///< that a Cosmos DB charged
  double clock_offset_seconds = 0;  ///< of the store before this machine, as last seen
  /// Of tokens of Azure: "fetched", "denied", "failed".
  struct TokenFetches {
    std::string mode;
    std::string result;
    std::int64_t count = 0;
  };
  std::vector<TokenFetches> token_fetches{};
  double token_remaining_seconds = 0;
};

/// Of `Connection::Renew`, where each lease is a request of its own: some were answered, which counts,
/// and some were not, for the reason that the message gives.
class PartlyRenewed : public ProviderUnavailable {
 public:
  using Answers = std::vector<std::optional<RenewOutcome>>;  ///< one per request; empty: it failed
  PartlyRenewed(const std::string& message, About about, Answers answers)
      : ProviderUnavailable(message, std::move(about)), answers_(std::move(answers)) {}

  const Answers& answers() const { return answers_; }

 private:
  Answers answers_;
};

/// One connection to the store of the leases. Every operation is one atomic step there.
///
/// Calls block, at most for about `timeout` (Acquire: longer by its wait); then, and whenever the
/// store cannot be reached, they throw ProviderUnavailable, which says whether the outcome is
/// unknown. A token that is not taken, or does not allow the call, is AccessDenied. Bad names and
/// values throw std::invalid_argument.
///
/// Threads: one at a time, except `Cancel`.
class Connection {
 public:
  virtual ~Connection() = default;

  /// Acquiring again with a live term gives the same grant and restarts its deadline.
  virtual AcquireOutcome Acquire(const AcquireRequest& request, Milliseconds timeout) = 0;
  /// An outcome per request, in their order. May throw PartlyRenewed.
  virtual std::vector<RenewOutcome> Renew(std::span<const RenewRequest> requests,
                                          Milliseconds timeout) = 0;
  virtual ReleaseOutcome Release(const ReleaseRequest& request, Milliseconds timeout) = 0;
  /// Empty when the name is not known.
  virtual std::optional<BreakOutcome> Break(const BreakRequest& request, Milliseconds timeout) = 0;
  virtual std::optional<LeaseView> Get(std::string_view name, Milliseconds timeout) = 0;
  /// In order of name.
  virtual std::vector<LeaseView> List(const ListRequest& request, Milliseconds timeout) = 0;

  // Reliable tasks; only where Guarantees::tasks.
  virtual ClaimOutcome ClaimTask(const TaskClaim& claim, Milliseconds timeout) = 0;
  virtual FinishOutcome FinishTask(const TaskFinish& finish, Milliseconds timeout) = 0;

  /// From any thread: a call under way, and every later one, ends soon with ProviderUnavailable.
  virtual void Cancel() noexcept = 0;
};

/// Where leases are kept. `Open(url)` makes those that Tenure brings; a provider of your own has to
/// pass the conformance suite (tenure/leases/conformance.hpp).
///
/// Threads: any.
class Provider {
 public:
  virtual ~Provider() = default;

  virtual std::string_view name() const = 0;  ///< "postgres"
  virtual Guarantees guarantees() const = 0;
  /// A connection of its own. May connect later, with the first call.
  virtual std::unique_ptr<Connection> Connect() = 0;

  /// For people: why a guarantee is not given though the store could give it, and what to set
  /// there. Empty: there is nothing to set.
  virtual std::string advice() const { return {}; }
  virtual ProviderStats stats() const { return {}; }
};

struct ProviderOptions {
  /// With TLS: a file in PEM with the authorities whose certificates count, instead of the
  /// system's.
  std::string ca_file{};
  /// http:// only: a token may be sent to another machine in clear text, where everybody on the way
  /// can read it.
  bool insecure = false;
  /// redis:// only: it may be another machine, though everybody on the way can read and change what
  /// is said.
  bool allow_plaintext = false;
  /// azblob://, cosmos:// and rediss:// only: who asks.
  AzureOptions azure{};
};

/// "postgres://…", "sqlite:///path/to/file", "http://host:port" (a Tenure server; the token of
/// `https://token@host`, if any, is sent as a bearer token), "rediss://…", "redis://…",
/// "redis+unix:///path.sock", "azblob://ACCOUNT/CONTAINER" or "cosmos://ACCOUNT/DATABASE/CONTAINER"
/// (docs/lease-stores.md). Throws std::invalid_argument for anything else and ProviderUnavailable
/// when the store cannot be prepared.
std::unique_ptr<Provider> OpenProvider(std::string_view url, const ProviderOptions& options = {});

}  // namespace tenure::leases
