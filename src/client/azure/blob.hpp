#pragma once

#include <memory>

#include "client/azure/address.hpp"
#include "client/azure/identity.hpp"
#include "client/cas/store.hpp"

namespace tenure::client {

/// A container of a storage account, one blob per lease. Makes no request yet.
std::unique_ptr<CasStore> MakeBlobStore(const AzureAddress& address, const AzureIdentity& who,
                                        std::shared_ptr<ProviderCounters> counters);

}  // namespace tenure::client
