#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "tenure/leases/azure.hpp"

/// Where tokens come from, one class per way. Each `Get` is one request, or one and the answer to a
/// challenge.
namespace tenure::client {

/// An application at the authority's token endpoint.
struct Application {
  std::string authority{};  ///< https://…, without a final slash
  std::string tenant_id{};
  std::string client_id{};
  std::string ca_file{};
  std::string mode{};  ///< for messages

  std::string TokenEndpoint() const;
};

/// It shows a token of another issuer, from a file that is read each time: it rotates.
std::shared_ptr<leases::TokenSource> FederatedSource(Application application,
                                                     std::string token_file);
/// It shows that it has the key of a certificate. Reads the file now. Throws std::invalid_argument.
std::shared_ptr<leases::TokenSource> CertificateSource(Application application,
                                                       const std::string& certificate_file,
                                                       const std::string& password_file);
/// It shows a secret.
std::shared_ptr<leases::TokenSource> SecretSource(Application application, std::string secret);

/// What this machine or service is. `client_id`: of a user-assigned identity, else empty.
std::shared_ptr<leases::TokenSource> AppServiceSource(std::string endpoint, std::string header,
                                                      std::string client_id, std::string ca_file);
/// `key_folder`: the only one whose files answer the challenge of an Arc agent.
std::shared_ptr<leases::TokenSource> ArcSource(std::string endpoint, std::string client_id,
                                               std::filesystem::path key_folder);
std::shared_ptr<leases::TokenSource> MachineSource(std::string host, std::string client_id);

/// Who is signed in to the command `az`. Only for development.
std::shared_ptr<leases::TokenSource> DeveloperSource();

}  // namespace tenure::client
