#pragma once

#include <memory>
#include <string>

#include "client/azure/address.hpp"
#include "client/azure/identity.hpp"
#include "client/cas/store.hpp"

namespace tenure::client {

/// A container of a Cosmos DB (API for NoSQL), and what its account promises.
struct CosmosStore {
  std::unique_ptr<CasStore> store{};
  std::string
      may_forget{};  ///< why a failover may forget a grant, and what to set; empty: it does not
};

/// Looks at account and container first. Throws CallFailed: kUnfit for an account that is written in
/// several regions, or a container with another partition key.
CosmosStore OpenCosmosStore(const AzureAddress& address, const AzureIdentity& who,
                            std::shared_ptr<ProviderCounters> counters);

}  // namespace tenure::client
