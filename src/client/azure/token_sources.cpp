#include "client/azure/token_sources.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/read_file.hpp"
#include "client/azure/client_assertion.hpp"
#include "client/azure/connection_string.hpp"
#include "client/azure/token_endpoint.hpp"
#include "client/http/transport.hpp"
#include "tenure/leases/errors.hpp"

namespace tenure::client {
namespace {

using leases::AccessToken;
using std::chrono::milliseconds;

constexpr std::string_view kJwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
constexpr std::size_t kMostKeyBytes = 4UL * 1024;

/// Identity endpoints name a resource where the authority names a scope.
std::string ResourceOf(std::string_view scope) {
  constexpr std::string_view kDefault = "/.default";
  if (scope.ends_with(kDefault)) scope.remove_suffix(kDefault.size());
  return std::string(scope);
}

AccessToken Exchange(const Application& application, std::string form, milliseconds timeout) {
  return ReadToken(AskForToken({.url = application.TokenEndpoint(),
                                .method = http::Method::kPost,
                                .form = std::move(form),
                                .ca_file = application.ca_file,
                                .mode = application.mode},
                               timeout),
                   application.mode);
}

AccessToken ExchangeAssertion(const Application& application, std::string_view scope,
                              std::string_view assertion, milliseconds timeout) {
  return Exchange(application,
                  FormBody({{"client_id", application.client_id},
                            {"grant_type", "client_credentials"},
                            {"scope", scope},
                            {"client_assertion_type", kJwtBearer},
                            {"client_assertion", assertion}}),
                  timeout);
}

class Federated final : public leases::TokenSource {
 public:
  Federated(Application application, std::string token_file)
      : application_(std::move(application)), token_file_(std::move(token_file)) {}

  AccessToken Get(std::string_view scope, milliseconds timeout) override {
    std::string assertion;
    try {
      assertion = ReadSecretFile(token_file_, "the token file");
    } catch (const std::invalid_argument& error) {
      throw leases::ProviderUnavailable(
          fmt::format("no token ({}): {}", application_.mode, error.what()), {});
    }
    return ExchangeAssertion(application_, scope, assertion, timeout);
  }

 private:
  const Application application_;
  const std::string token_file_;
};

class WithCertificate final : public leases::TokenSource {
 public:
  WithCertificate(Application application, ClientCertificate certificate)
      : application_(std::move(application)), certificate_(std::move(certificate)) {}

  AccessToken Get(std::string_view scope, milliseconds timeout) override {
    return ExchangeAssertion(
        application_, scope,
        certificate_.Assertion(application_.client_id, application_.TokenEndpoint()), timeout);
  }

 private:
  const Application application_;
  const ClientCertificate certificate_;
};

class WithSecret final : public leases::TokenSource {
 public:
  WithSecret(Application application, std::string secret)
      : application_(std::move(application)), secret_(std::move(secret)) {}

  AccessToken Get(std::string_view scope, milliseconds timeout) override {
    return Exchange(application_,
                    FormBody({{"client_id", application_.client_id},
                              {"grant_type", "client_credentials"},
                              {"scope", scope},
                              {"client_secret", secret_}}),
                    timeout);
  }

 private:
  const Application application_;
  const std::string secret_;
};

/// A GET with the identity's parameters behind the endpoint.
TokenRequest IdentityRequest(const std::string& endpoint, std::string_view version,
                             std::string_view scope, const std::string& client_id,
                             http::Client::Headers headers) {
  std::string url = fmt::format("{}{}api-version={}&resource={}", endpoint,
                                endpoint.find('?') == std::string::npos ? '?' : '&', version,
                                Encoded(ResourceOf(scope)));
  if (!client_id.empty()) url += "&client_id=" + Encoded(client_id);
  return {.url = std::move(url), .headers = std::move(headers), .mode = "managed_identity"};
}

class AppService final : public leases::TokenSource {
 public:
  AppService(std::string endpoint, std::string header, std::string client_id, std::string ca_file)
      : endpoint_(std::move(endpoint)),
        header_(std::move(header)),
        client_id_(std::move(client_id)),
        ca_file_(std::move(ca_file)) {}

  AccessToken Get(std::string_view scope, milliseconds timeout) override {
    TokenRequest request = IdentityRequest(endpoint_, "2019-08-01", scope, client_id_,
                                           {{"X-IDENTITY-HEADER", header_}});
    request.ca_file = ca_file_;
    return ReadToken(AskForToken(request, timeout), request.mode, true);
  }

 private:
  const std::string endpoint_;
  const std::string header_;
  const std::string client_id_;
  const std::string ca_file_;
};

class Arc final : public leases::TokenSource {
 public:
  Arc(std::string endpoint, std::string client_id, std::filesystem::path key_folder)
      : endpoint_(std::move(endpoint)),
        client_id_(std::move(client_id)),
        key_folder_(std::move(key_folder)) {}

  AccessToken Get(std::string_view scope, milliseconds timeout) override {
    TokenRequest request =
        IdentityRequest(endpoint_, "2020-06-01", scope, client_id_, {{"Metadata", "true"}});
    const http::ClientResponse challenge = AskForToken(request, timeout);
    if (challenge.status != 401) return ReadToken(challenge, request.mode, true);
    request.headers.emplace_back("Authorization", "Basic " + KeyOf(challenge));
    return ReadToken(AskForToken(request, timeout), request.mode, true);
  }

 private:
  /// Who answers on that port may be anybody of this machine: it must not make us read and send a
  /// file of its choice.
  std::string KeyOf(const http::ClientResponse& challenge) const {
    const auto refuse = [](std::string_view why) -> std::string {
      throw leases::ProviderUnavailable(
          fmt::format("no token (managed_identity): the challenge of the Arc agent {}", why), {});
    };
    constexpr std::string_view kRealm = "Basic realm=";
    const std::string header(challenge.FindHeader("WWW-Authenticate").value_or(""));
    if (!header.starts_with(kRealm)) return refuse("names no key");
    std::error_code error;
    const auto path = std::filesystem::weakly_canonical(header.substr(kRealm.size()), error);
    if (error || path.parent_path() != key_folder_ || path.extension() != ".key")
      return refuse("names a file that is no key of the agent");
    try {
      std::string key = base::ReadWholeFile(path, kMostKeyBytes);
      while (key.ends_with('\n') || key.ends_with('\r')) key.pop_back();
      const bool plain = !key.empty() && std::ranges::all_of(key, [](unsigned char c) {
        return c >= ' ' && c < 0x7f;  // it goes into a header
      });
      return plain ? key : refuse("names a key with characters that no key has");
    } catch (const base::UserError& failure) {
      return refuse(fmt::format("names a key that cannot be read: {}", failure.what()));
    }
  }

  const std::string endpoint_;
  const std::string client_id_;
  const std::filesystem::path key_folder_;
};

/// The metadata service of a virtual machine.
class Machine final : public leases::TokenSource {
 public:
  Machine(std::string host, std::string client_id)
      : endpoint_(fmt::format("{}/metadata/identity/oauth2/token", host)),
        client_id_(std::move(client_id)) {}

  AccessToken Get(std::string_view scope, milliseconds timeout) override {
    return ReadToken(AskForToken(IdentityRequest(endpoint_, "2018-02-01", scope, client_id_,
                                                 {{"Metadata", "true"}}),
                                 timeout),
                     "managed_identity");
  }

 private:
  const std::string endpoint_;
  const std::string client_id_;
};

}  // namespace

std::string Application::TokenEndpoint() const {
  return fmt::format("{}/{}/oauth2/v2.0/token", authority, Encoded(tenant_id));
}

std::shared_ptr<leases::TokenSource> FederatedSource(Application application,
                                                     std::string token_file) {
  return std::make_shared<Federated>(std::move(application), std::move(token_file));
}

std::shared_ptr<leases::TokenSource> CertificateSource(Application application,
                                                       const std::string& certificate_file,
                                                       const std::string& password_file) {
  return std::make_shared<WithCertificate>(
      std::move(application), ClientCertificate::Load(certificate_file, password_file));
}

std::shared_ptr<leases::TokenSource> SecretSource(Application application, std::string secret) {
  return std::make_shared<WithSecret>(std::move(application), std::move(secret));
}

std::shared_ptr<leases::TokenSource> AppServiceSource(std::string endpoint, std::string header,
                                                      std::string client_id, std::string ca_file) {
  CheckIdentityEndpoint(endpoint, "IDENTITY_ENDPOINT");
  return std::make_shared<AppService>(std::move(endpoint), std::move(header), std::move(client_id),
                                      std::move(ca_file));
}

std::shared_ptr<leases::TokenSource> ArcSource(std::string endpoint, std::string client_id,
                                               std::filesystem::path key_folder) {
  CheckIdentityEndpoint(endpoint, "IDENTITY_ENDPOINT");
  return std::make_shared<Arc>(std::move(endpoint), std::move(client_id), std::move(key_folder));
}

std::shared_ptr<leases::TokenSource> MachineSource(std::string host, std::string client_id) {
  CheckIdentityEndpoint(host, "AZURE_POD_IDENTITY_AUTHORITY_HOST");
  return std::make_shared<Machine>(std::move(host), std::move(client_id));
}

}  // namespace tenure::client
