#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace tenure::leases {

/// What lets a program in for a while.
struct AccessToken {
  std::string text{};
  std::chrono::milliseconds lifetime{0};  ///< from the moment at which it was asked for
};

/// Where tokens of Microsoft Entra come from: a library of Azure's in the program, a vault, … The
/// library asks on a thread of its own, in time before a token ends, and keeps it in memory only.
///
/// Threads: one at a time.
class TokenSource {
 public:
  virtual ~TokenSource() = default;

  /// A token for "https://storage.azure.com/.default", or with cosmos or redis in that place. Takes
  /// at most about `timeout`. What it throws is a failed try; AccessDenied: whoever asked is refused.
  virtual AccessToken Get(std::string_view scope, std::chrono::milliseconds timeout) = 0;
};

/// Who a program is to Azure (docs/lease-stores.md). The first that is given wins: a connection
/// string, `credential`, `mode`, the default chain; a warning names what was given beside it. A text
/// that is empty comes from the environment: `mode` from TENURE_AZURE_MODE, and so on; what
/// Azure's own libraries call AZURE_… is taken where that is not set. Nothing secret ever stands in
/// a url.
struct AzureOptions {
  /// "AccountName=…;AccountKey=…" of a storage account, "AccountEndpoint=…;AccountKey=…" of a Cosmos
  /// DB account.
  std::string connection_string{};
  std::string connection_string_file{};  ///< the file with it
  std::shared_ptr<TokenSource> credential{};

  /// "managed_identity", "workload_identity", "federated_credential", "service_principal",
  /// "development" (only with TENURE_ENVIRONMENT=development), "default".
  std::string mode{};
  std::string tenant_id{};
  std::string client_id{};         ///< of the application, or of a user-assigned identity
  std::string authority{};         ///< https://login.microsoftonline.com where it is empty
  std::string token_file{};        ///< of a federated credential; read again with each renewal
  std::string certificate_file{};  ///< PEM or PKCS 12, with its key
  std::string certificate_password_file{};  ///< of a PKCS 12 file or an encrypted key
  std::string client_secret_file{};
};

}  // namespace tenure::leases
