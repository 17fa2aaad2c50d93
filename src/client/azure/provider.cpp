#include <utility>

#include "client/azure/blob.hpp"
#include "client/azure/cosmos.hpp"
#include "client/azure/identity.hpp"
#include "client/backends.hpp"
#include "client/failure.hpp"

namespace tenure::client {

std::unique_ptr<leases::Provider> MakeAzureProvider(const AzureAddress& address,
                                                    const leases::AzureOptions& who) {
  auto counters = std::make_shared<ProviderCounters>();
  const AzureIdentity identity = FindIdentity(address, who, *counters);
  CasOptions options{.name = address.cosmos ? "cosmos" : "azblob",
                     .clock_skew = address.clock_skew,
                     .poll = address.poll,
                     .min_ttl = address.min_ttl,
                     .parallel = address.parallel};
  std::unique_ptr<CasStore> store;
  if (address.cosmos) {
    CosmosStore opened =
        LeaseCall({}, [&] { return OpenCosmosStore(address, identity, counters); });
    store = std::move(opened.store);
    options.durable_grant = opened.may_forget.empty();
    options.advice = std::move(opened.may_forget);
  } else {
    store = MakeBlobStore(address, identity, counters);
  }
  return MakeCasProvider(std::move(store), counters, std::move(options));
}

}  // namespace tenure::client
