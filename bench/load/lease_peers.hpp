#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "options.hpp"
#include "protocol.hpp"

namespace bench {

/// What a client knows of the lease that it takes, holds or releases.
struct Hold {
  std::string name{};
  std::string term{};   ///< Tenure's; Redis's value
  std::int64_t id = 0;  ///< Tenure's fence; etcd's lease
};

/// A fresh name and term, of random numbers.
Hold NewHold();

/// How one server speaks of leases: the requests, one after another, and what a right answer is.
/// A wrong answer ends the program.
class LeasePeer {
 public:
  virtual ~LeasePeer() = default;

  virtual Parser parser() const { return ParseHttp; }
  /// Acquiring takes the steps first_step … last_step; releasing and renewing take one.
  virtual int first_step(const Hold&) const { return 0; }
  virtual int last_step() const { return 0; }
  virtual std::string Acquire(const Hold& hold, int step) = 0;
  virtual void Acquired(Hold& hold, int step, const Answer& answer) = 0;
  virtual std::string Release(const Hold& hold) = 0;
  virtual void Released(const Answer& answer) = 0;
  virtual std::string Renew(const Hold& hold) = 0;
  virtual void Renewed(const Answer& answer) = 0;
};

/// "tenure": acquire; release; renew.
/// "etcd": a lease of its own for each name: grant, create if absent; revoke; keepalive.
/// "etcd-session": one lease for all names of a client, granted with the first: create if absent;
///   delete; keepalive. What etcd's own locks do.
/// "redis": SET NX PX; compare and delete, compare and extend in Lua.
/// "tenure-redis": the scripts of Tenure's leases on a Redis, which remembers them by --acquire, --release and
///   --renew.
std::unique_ptr<LeasePeer> MakeLeasePeer(const Options& options);

// Tenure's requests, for what is more than a loop.
struct AcquireOptions {
  std::int64_t ttl_ms = 30'000;
  std::int64_t wait_ms = 0;
};
std::string AcquireRequest(const Hold& hold, const AcquireOptions& options);
std::string RenewRequest(const Hold& hold);
std::string ReleaseRequest(const Hold& hold);
std::string LeasePath(const Hold& hold);
std::string Get(const std::string& path);
std::string Post(const std::string& path, const std::string& body);

}  // namespace bench
