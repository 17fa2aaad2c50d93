#include "client/azure/identity.hpp"

#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include "base/log.hpp"
#include "client/azure/connection_string.hpp"
#include "client/azure/token_endpoint.hpp"
#include "client/azure/token_sources.hpp"

namespace tenure::client {
namespace {

constexpr const char* kUsualAuthority = "https://login.microsoftonline.com";
constexpr const char* kMetadataHost = "http://169.254.169.254";
constexpr const char* kArcKeys = "/var/opt/azcmagent/tokens";

std::string Environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

/// The option, else TENURE_AZURE_…, else what Azure's own libraries read.
std::string Chosen(const std::string& option, const char* ours, const char* theirs) {
  std::string value = OptionOr(option, ours);
  return value.empty() ? Environment(theirs) : value;
}

/// A source, and what tells it from others: the tokens of two equal ones are the same.
struct Way {
  std::string mode{};
  std::string key{};  ///< no secret in it
  std::function<std::shared_ptr<leases::TokenSource>()> make{};
};

class Ways {
 public:
  Ways(const leases::AzureOptions& options, std::string ca_file)
      : options_(options), ca_file_(std::move(ca_file)) {}

  Way Named(const std::string& mode) const {
    if (mode == "managed_identity") return ManagedIdentity();
    if (mode == "workload_identity") return Workload();
    if (mode == "federated_credential") return FederatedCredential();
    if (mode == "service_principal") return ServicePrincipal();
    if (mode == "development") return Development();
    if (mode == "default") return Default();
    throw std::invalid_argument(
        fmt::format("azure.mode must be managed_identity, workload_identity, federated_credential, "
                    "service_principal, development or default, not '{}'",
                    mode));
  }

 private:
  /// The first that is configured: it failing is an error, no reason to try the next. Whether a
  /// machine has a metadata service cannot be known, so that comes last.
  Way Default() const {
    if (!Environment("AZURE_CLIENT_SECRET").empty() ||
        !Environment("AZURE_CLIENT_CERTIFICATE_PATH").empty())
      return ServicePrincipal();
    if (!Environment("AZURE_FEDERATED_TOKEN_FILE").empty()) return Workload();
    if (Environment("IDENTITY_ENDPOINT").empty() && IsDevelopment()) return Development();
    return ManagedIdentity();
  }

  static bool IsDevelopment() { return Environment("TENURE_ENVIRONMENT") == "development"; }

  Way ManagedIdentity() const {
    const std::string client = OptionOr(options_.client_id, "TENURE_AZURE_CLIENT_ID");
    const std::string endpoint = Environment("IDENTITY_ENDPOINT");
    const std::string header = Environment("IDENTITY_HEADER");
    if (!endpoint.empty() && !header.empty())
      return {"managed_identity", fmt::format("app {} {}", endpoint, client),
              [=, ca = ca_file_] { return AppServiceSource(endpoint, header, client, ca); }};
    if (!endpoint.empty() && !Environment("IMDS_ENDPOINT").empty())
      return {"managed_identity", fmt::format("arc {} {}", endpoint, client),
              [=] { return ArcSource(endpoint, client, kArcKeys); }};
    std::string host = Environment("AZURE_POD_IDENTITY_AUTHORITY_HOST");
    if (host.empty()) host = kMetadataHost;
    while (host.ends_with('/')) host.pop_back();
    return {"managed_identity", fmt::format("machine {} {}", host, client),
            [=] { return MachineSource(host, client); }};
  }

  Way Workload() const {
    const std::string file = Demand(Environment("AZURE_FEDERATED_TOKEN_FILE"), "workload_identity",
                                    "AZURE_FEDERATED_TOKEN_FILE");
    return OfFile("workload_identity", file);
  }
  Way FederatedCredential() const {
    return OfFile("federated_credential",
                  Demand(OptionOr(options_.token_file, "TENURE_AZURE_TOKEN_FILE"),
                         "federated_credential", "azure.token_file"));
  }
  Way OfFile(const std::string& mode, const std::string& file) const {
    const Application application = ApplicationOf(mode);
    return {mode, KeyOf(application) + " " + file,
            [=] { return FederatedSource(application, file); }};
  }

  Way ServicePrincipal() const {
    const Application application = ApplicationOf("service_principal");
    const std::string certificate =
        Chosen(options_.certificate_file, "TENURE_AZURE_CERTIFICATE_FILE",
               "AZURE_CLIENT_CERTIFICATE_PATH");
    const std::string secret_file =
        OptionOr(options_.client_secret_file, "TENURE_AZURE_CLIENT_SECRET_FILE");
    const std::string secret = Environment("AZURE_CLIENT_SECRET");
    if (!certificate.empty()) {
      if (!secret_file.empty() || !secret.empty())
        base::LogWarn("leases.two_credentials",
                      "A certificate and a secret are given: the certificate is used.", {});
      const std::string password =
          OptionOr(options_.certificate_password_file, "TENURE_AZURE_CERTIFICATE_PASSWORD_FILE");
      return {"service_principal", KeyOf(application) + " " + certificate,
              [=] { return CertificateSource(application, certificate, password); }};
    }
    if (secret_file.empty() && secret.empty())
      throw std::invalid_argument(
          "azure.mode service_principal needs azure.certificate_file or azure.client_secret_file");
    base::LogWarn("leases.client_secret",
                  "An application shows a secret to Azure: a certificate or a managed identity "
                  "cannot be copied out of a file so easily.",
                  {});
    return {"service_principal", KeyOf(application) + " secret", [=] {
              return SecretSource(application,
                                  secret_file.empty()
                                      ? secret
                                      : ReadSecretFile(secret_file, "azure.client_secret_file"));
            }};
  }

  Way Development() const {
    if (!IsDevelopment())
      throw std::invalid_argument(
          "azure.mode development is only for TENURE_ENVIRONMENT=development");
    return {"development", "az", [] { return DeveloperSource(); }};
  }

  Application ApplicationOf(const std::string& mode) const {
    Application application;
    application.mode = mode;
    application.ca_file = ca_file_;
    application.tenant_id =
        Demand(Chosen(options_.tenant_id, "TENURE_AZURE_TENANT_ID", "AZURE_TENANT_ID"), mode,
               "azure.tenant_id");
    application.client_id =
        Demand(Chosen(options_.client_id, "TENURE_AZURE_CLIENT_ID", "AZURE_CLIENT_ID"), mode,
               "azure.client_id");
    application.authority =
        Chosen(options_.authority, "TENURE_AZURE_AUTHORITY", "AZURE_AUTHORITY_HOST");
    if (application.authority.empty()) application.authority = kUsualAuthority;
    if (!application.authority.starts_with("https://"))
      throw std::invalid_argument("azure.authority must begin with https://");
    application.authority = CheckedEndpoint(application.authority, "azure.authority");
    return application;
  }

  static std::string Demand(std::string value, std::string_view mode, std::string_view setting) {
    if (!value.empty()) return value;
    throw std::invalid_argument(fmt::format("azure.mode {} needs {}", mode, setting));
  }
  static std::string KeyOf(const Application& application) {
    return fmt::format("{} {} {}", application.authority, application.tenant_id,
                       application.client_id);
  }

  const leases::AzureOptions& options_;
  const std::string ca_file_;
};

/// The tokens of this process, as long as a provider uses them.
class TokenCaches {
 public:
  static std::shared_ptr<TokenCache> Find(
      const std::string& key, const std::function<std::shared_ptr<TokenCache>()>& make) {
    static TokenCaches caches;
    const base::Lock lock(caches.mutex_);
    std::erase_if(caches.all_, [](const auto& one) { return one.second.expired(); });
    auto& kept = caches.all_[key];
    auto cache = kept.lock();
    if (!cache) kept = cache = make();
    return cache;
  }

 private:
  base::Mutex mutex_;
  std::map<std::string, std::weak_ptr<TokenCache>> all_ TENURE_GUARDED_BY(mutex_);
};

void WarnBeside(std::string_view used, std::string_view beside) {
  base::LogWarn("leases.two_credentials",
                fmt::format("{} is given beside {}, which is used.", beside, used), {});
}

}  // namespace

std::shared_ptr<TokenCache> FindTokens(const std::string& scope, const std::string& ca_file,
                                       const leases::AzureOptions& options) {
  const std::string mode = OptionOr(options.mode, "TENURE_AZURE_MODE");
  Way way;
  if (options.credential) {
    if (!mode.empty()) WarnBeside("a credential", "azure.mode");
    way = {"injected", fmt::format("{}", static_cast<const void*>(options.credential.get())),
           [&] { return options.credential; }};
  } else {
    way = Ways(options, ca_file).Named(mode.empty() ? "default" : mode);
  }
  return TokenCaches::Find(fmt::format("{} {} {} {}", way.mode, scope, ca_file, way.key), [&] {
    return std::make_shared<TokenCache>(way.make(), scope, way.mode,
                                        std::make_shared<ProviderCounters>(), TokenCache::Timing{});
  });
}

AzureIdentity FindIdentity(const AzureAddress& address, const leases::AzureOptions& options,
                           ProviderCounters& counters) {
  const std::string mode = OptionOr(options.mode, "TENURE_AZURE_MODE");
  if (!address.connection.key.empty()) {
    if (options.credential) WarnBeside("a connection string", "a credential");
    if (!mode.empty()) WarnBeside("a connection string", "azure.mode");
    return {.key = address.connection.key};
  }
  AzureIdentity identity;
  identity.tokens = FindTokens(
      address.cosmos ? "https://cosmos.azure.com/.default" : "https://storage.azure.com/.default",
      address.ca_file, options);
  counters.Include(identity.tokens->counters());
  return identity;
}

}  // namespace tenure::client
