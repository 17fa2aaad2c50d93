#pragma once

#include <string>

#include "tenure/leases/azure.hpp"

namespace tenure::client {

/// What a connection string says of an account.
struct ConnectionString {
  std::string account{};   ///< empty: it does not name it
  std::string endpoint{};  ///< without a final slash; empty: it names none
  std::string key{};       ///< its bytes; empty: there is no connection string
};

/// That of the options or of the environment; empty where neither has one. `cosmos`: of a Cosmos DB
/// account, else of a storage account. Throws std::invalid_argument that repeats nothing of it.
ConnectionString FindConnectionString(const leases::AzureOptions& options, bool cosmos);

/// The endpoint without its final slash; throws std::invalid_argument that names `what` where it is
/// not https (or http of this machine).
std::string CheckedEndpoint(std::string endpoint, const std::string& what);

/// A file with one secret line. Throws std::invalid_argument that names `what`; warns of a file that
/// everybody can read.
std::string ReadSecretFile(const std::string& path, const std::string& what);

/// The option, else the environment's.
std::string OptionOr(const std::string& option, const char* variable);

}  // namespace tenure::client
