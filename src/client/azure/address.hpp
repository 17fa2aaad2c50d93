#pragma once

#include <string>
#include <string_view>

#include "client/azure/connection_string.hpp"
#include "tenure/leases/provider.hpp"

namespace tenure::client {

/// Where leases are kept in Azure, and how they are asked for.
struct AzureAddress {
  bool cosmos = false;  ///< else Blob Storage
  std::string account{};
  std::string database{};   ///< of Cosmos DB
  std::string container{};  ///< of blobs, or of documents
  std::string prefix{};     ///< of blobs: what stands before their names, with its final slash

  std::string endpoint{};       ///< "https://host[:port][/account]", without a final slash
  bool own_endpoint = false;    ///< the url or the connection string names it
  bool create = false;          ///< makes what is not there (the container, the database)
  leases::Milliseconds poll{};  ///< as the rest: CasOptions
  leases::Milliseconds clock_skew{};
  leases::Milliseconds min_ttl{};
  int parallel = 0;
  std::string ca_file{};

  ConnectionString connection{};  ///< empty where no connection string is given
};

bool IsAzureUrl(std::string_view url);

/// "azblob://ACCOUNT/CONTAINER[/PREFIX][?…]", "cosmos://ACCOUNT/DATABASE/CONTAINER[?…]". Reads the
/// connection string where one is given. Throws std::invalid_argument that says what is wrong and
/// repeats no secret.
AzureAddress ParseAzureUrl(std::string_view url, const leases::ProviderOptions& options);

}  // namespace tenure::client
