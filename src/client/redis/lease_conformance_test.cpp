// The conformance suite on Redis: on one that keeps every grant, over TLS, and what a Redis without
// persistence has to do instead.

#include <memory>
#include <thread>

#include "support/redis_server.hpp"
#include "tenure/leases/conformance.hpp"
#include "tenure/leases/manager.hpp"

namespace tenure::leases::conformance {
namespace {

void ReallyWait(Milliseconds time) { std::this_thread::sleep_for(time); }

support::RedisServer& DurableRedis() {
  static support::RedisServer server({.durable = true, .tls = true});
  return server;
}

Subject DurableSubject() {
  return {.name = "durable",
          .open = [] { return OpenProvider(DurableRedis().TlsUrl()); },
          .advance = ReallyWait,
          .kill =
              [] {
                DurableRedis().Kill();
                DurableRedis().Start();
              },
          .forget = [] { DurableRedis().Command({"flushall"}); }};
}

support::RedisServer& ForgettingRedis() {
  static support::RedisServer server({.durable = false});
  return server;
}

/// With no ttl above 3 s, so that it grants 4 s after its start at the latest.
std::unique_ptr<Provider> OpenForgetting() {
  auto provider = OpenProvider(ForgettingRedis().Url("max_ttl=3s"));
  const auto connection = provider->Connect();
  const AcquireRequest probe{.name = NewTerm(), .term = NewTerm(), .ttl = Milliseconds(100)};
  while (true) {
    const auto outcome = connection->Acquire(probe, Milliseconds(10'000));
    const auto* held = std::get_if<HeldByAnother>(&outcome);
    if (!held) return provider;
    ReallyWait(held->retry_after);
  }
}

Subject ForgettingSubject() {
  return {.name = "forgetting",
          .open = OpenForgetting,
          .advance = ReallyWait,
          .kill =
              [] {
                ForgettingRedis().Kill();
                ForgettingRedis().Start();
              },
          .only = {"NothingIsGrantedUntilWhatWasForgottenHasExpired"}};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Redis, LeaseConformance,
                         ::testing::Values(DurableSubject(), ForgettingSubject()),
                         [](const auto& one) { return one.param.name; });

}  // namespace tenure::leases::conformance
