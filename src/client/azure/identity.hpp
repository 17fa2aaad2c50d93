#pragma once

#include <memory>
#include <string>

#include "client/azure/address.hpp"
#include "client/azure/token_cache.hpp"
#include "tenure/leases/azure.hpp"

namespace tenure::client {

/// Who asks: an account's key, or tokens.
struct AzureIdentity {
  std::string key{};
  std::shared_ptr<TokenCache> tokens{};
};

/// Tokens for one scope: of the program's own credential, else of the mode, else of the default chain.
/// `ca_file`: whose certificates count at an endpoint. Makes no request. Throws
/// std::invalid_argument.
std::shared_ptr<TokenCache> FindTokens(const std::string& scope, const std::string& ca_file,
                                       const leases::AzureOptions& options);

/// The first that is given: connection string, the program's own credential, a mode, the default
/// chain. Warns of what is given beside it. Makes no request. Throws std::invalid_argument.
AzureIdentity FindIdentity(const AzureAddress& address, const leases::AzureOptions& options,
                           ProviderCounters& counters);

}  // namespace tenure::client
