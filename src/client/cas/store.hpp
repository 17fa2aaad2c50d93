#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "client/cas/counters.hpp"
#include "client/cas/record.hpp"
#include "tenure/leases/provider.hpp"

namespace tenure::client {

/// Until when an answer is of use (BootClock), and who may end it sooner.
struct CasCall {
  std::int64_t until_ms = 0;
  std::stop_token stop{};
};

struct CasSeen {
  CasSight sight{};
  std::string version{};  ///< of what was read; empty: there is none
};
struct CasWritten {
  std::string version{};     ///< of what stands there now
  std::int64_t stamp_s = 0;  ///< the store's, of this write
};

/// A store with compare-and-swap that stamps each write: what the rules of records need, and nothing
/// else. One of its writes of a name comes after the other, and each gives a version of its own.
///
/// All throw CallFailed, which says whether the outcome is unknown, soon after `until_ms` at the
/// latest. Threads: any, at once.
class CasStore {
 public:
  virtual ~CasStore() = default;

  virtual CasSeen Read(const std::string& name, const CasCall& call) = 0;
  /// Replaces exactly that version, or (empty) makes what is not there. Nothing: the store has
  /// another one by now, or somebody else was first.
  virtual std::optional<CasWritten> Write(const std::string& name, const CasRecord& record,
                                          const std::string& version, const CasCall& call) = 0;
  /// All names that begin so, in any order; at most kMostListed of them.
  virtual std::vector<std::string> Names(const std::string& prefix, const CasCall& call) = 0;
};

/// More names than this make a list an error: all are read before the first is shown.
inline constexpr std::size_t kMostListed = 10'000;
[[noreturn]] void ThrowTooManyLeases();

struct CasOptions {
  std::string name{};  ///< of the provider: "azblob"
  /// By how much the store's machines that stamp may differ.
  leases::Milliseconds clock_skew{2'000};
  leases::Milliseconds poll{1'000};  ///< how often who waits asks again
  leases::Milliseconds min_ttl{5'000};
  int parallel = 8;  ///< renewals of one round under way at a time
  bool durable_grant = true;
  std::string advice{};  ///< what to set where a guarantee is missing
};

/// Leases as records of such a store.
std::unique_ptr<leases::Provider> MakeCasProvider(std::unique_ptr<CasStore> store,
                                                  std::shared_ptr<ProviderCounters> counters,
                                                  CasOptions options);

}  // namespace tenure::client
