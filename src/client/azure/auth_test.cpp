// Every way to a token, from endpoints of the test's own, and what is done with it at real stores. What
// an endpoint can answer wrong, and what may never be seen of a secret.

#include <atomic>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include "base/base64.hpp"
#include "client/azure/token_cache.hpp"
#include "client/azure/token_sources.hpp"
#include "support/azure_stores.hpp"
#include "support/http_receiver.hpp"
#include "support/json.hpp"
#include "tenure/clock.hpp"
#include "tenure/leases/manager.hpp"
#include "tenure/log.hpp"

namespace tenure::leases {
namespace {

using support::Json;
using support::ReceivedRequest;
using support::TlsReceiver;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr Milliseconds kAmpleTime{20'000};
const std::string kSecretValue = "hunter2-the-secret";

/// A token as Azurite takes it; it looks at everything but the signature.
std::string StorageToken(const std::string& mark) {
  const std::int64_t now_s = std::time(nullptr);
  const std::string claims =
      R"({"aud":"https://storage.azure.com","iss":"https://sts.windows.net/t/",)"
      R"("nbf":)" +
      std::to_string(now_s - 60) + R"(,"iat":)" + std::to_string(now_s - 60) + R"(,"exp":)" +
      std::to_string(now_s + 3'600) + R"(,"mark":")" + mark + R"("})";
  return base::EncodeBase64Url(R"({"alg":"RS256","typ":"JWT"})") + "." +
         base::EncodeBase64Url(claims) + "." + base::EncodeBase64Url("signature");
}

std::string TokenAnswer(const std::string& token, int life_s = 3'600) {
  return R"({"token_type":"Bearer","expires_in":)" + std::to_string(life_s) +
         R"(,"access_token":")" + token + R"("})";
}

/// The value of a field of a form, decoded.
std::string FormField(const std::string& form, const std::string& name) {
  std::size_t at = ("&" + form).find("&" + name + "=");
  if (at == std::string::npos) return "";
  at += name.size() + 1;
  const std::string raw = form.substr(at, form.find('&', at) - at);
  std::string plain;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '%') {
      plain += raw[i];
    } else {
      plain += static_cast<char>(std::stoi(raw.substr(i + 1, 2), nullptr, 16));
      i += 2;
    }
  }
  return plain;
}

/// Set while it lives.
class EnvironmentVariable {
 public:
  EnvironmentVariable(std::string name, const std::string& value) : name_(std::move(name)) {
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~EnvironmentVariable() { ::unsetenv(name_.c_str()); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;

 private:
  const std::string name_;
};

/// A token source of a program's own.
class OwnSource final : public TokenSource {
 public:
  explicit OwnSource(std::function<AccessToken(std::string_view)> get) : get_(std::move(get)) {}
  AccessToken Get(std::string_view scope, std::chrono::milliseconds) override {
    return get_(scope);
  }

 private:
  const std::function<AccessToken(std::string_view)> get_;
};

class AzureTokens : public testing::Test {
 protected:
  void SetUp() override {
    if (!support::HasAzureStores())
      GTEST_SKIP() << "npm ci was not run in tests/node; ./test does it";
    SetLogHook([this](const LogLine& line) {
      const std::lock_guard lock(mutex_);
      seen_ += std::string(line.event) + " " + std::string(line.message);
      for (const auto& [name, value] : line.fields) seen_ += " " + value;
      seen_ += "\n";
    });
  }
  void TearDown() override {
    SetLogHook(nullptr);
    // Whatever was logged or thrown in this test.
    EXPECT_THAT(seen_, Not(HasSubstr(kSecretValue)));
    EXPECT_THAT(seen_, Not(HasSubstr("eyJ"))) << "that is how tokens begin";
  }

  static support::Azurite& Blobs() {
    static support::Azurite azurite;
    return azurite;
  }
  /// Answers `answer` and remembers what was asked.
  TlsReceiver& Endpoint(std::function<std::string(const ReceivedRequest&)> answer) {
    endpoint_ = std::make_unique<TlsReceiver>(Blobs().tls().authority(), std::move(answer));
    return *endpoint_;
  }
  std::string Authority() const { return endpoint_->Url(""); }

  /// Acquires and releases a lease on Azurite. What went wrong, or nothing.
  std::string Use(const AzureOptions& who, const std::string& more = "") {
    std::string text;
    try {
      const auto connection =
          OpenProvider(Blobs().Url("tokens", "create=1&min_ttl=1s" + more), {.azure = who})
              ->Connect();
      const std::string term = NewTerm();
      const std::string name = "auth/" + term;
      const auto outcome = connection->Acquire({.name = name, .term = term}, kAmpleTime);
      if (!std::holds_alternative<Grant>(outcome)) return "it is not granted";
      connection->Release({.name = name, .term = term}, kAmpleTime);
      return "";
    } catch (const AccessDenied& error) {
      text = std::string("denied: ") + error.what();
    } catch (const ProviderUnavailable& error) {
      text = std::string("unavailable: ") + error.what();
    } catch (const std::invalid_argument& error) {
      text = std::string("invalid: ") + error.what();
    }
    const std::lock_guard lock(mutex_);
    seen_ += text + "\n";
    return text;
  }
  AzureOptions AsApplication(const std::string& mode) const {
    return {
        .mode = mode, .tenant_id = "tenant-1", .client_id = "client-1", .authority = Authority()};
  }

  const support::TempDir dir_;
  std::unique_ptr<TlsReceiver> endpoint_;
  std::mutex mutex_;
  std::string seen_;
};

TEST_F(AzureTokens, AnInjectedSourceIsAskedForTheScopeOfTheStore) {
  std::string scope;
  const auto source = std::make_shared<OwnSource>([&](std::string_view asked) {
    scope = asked;
    return AccessToken{StorageToken("own"), std::chrono::hours(1)};
  });
  EXPECT_EQ(Use({.credential = source}), "");
  EXPECT_EQ(scope, "https://storage.azure.com/.default");
}

TEST_F(AzureTokens, AFederatedTokenIsExchangedAndItsFileIsReadAgain) {
  std::ofstream(dir_ / "token") << "assertion-1\n";
  Endpoint([](const ReceivedRequest& request) {
    const std::string assertion = FormField(request.body, "client_assertion");
    // The first one ends in a second, so another is asked for.
    return TlsReceiver::Http(
        200, "", TokenAnswer(StorageToken(assertion), assertion == "assertion-1" ? 1 : 3'600));
  });
  AzureOptions who = AsApplication("federated_credential");
  who.token_file = dir_ / "token";
  const auto provider = OpenProvider(Blobs().Url("tokens", "create=1"), {.azure = who});
  const auto connection = provider->Connect();
  connection->Get("a", kAmpleTime);
  std::ofstream(dir_ / "token") << "assertion-2\n";
  const auto requests = endpoint_->WaitFor(2);
  connection->Get("a", kAmpleTime);
  EXPECT_EQ(requests[0].target, "/tenant-1/oauth2/v2.0/token");
  EXPECT_EQ(requests[0].FindHeader("Content-Type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(FormField(requests[0].body, "grant_type"), "client_credentials");
  EXPECT_EQ(FormField(requests[0].body, "client_id"), "client-1");
  EXPECT_EQ(FormField(requests[0].body, "scope"), "https://storage.azure.com/.default");
  EXPECT_EQ(FormField(requests[0].body, "client_assertion_type"),
            "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
  EXPECT_EQ(FormField(requests[0].body, "client_assertion"), "assertion-1");
  EXPECT_EQ(FormField(requests[1].body, "client_assertion"), "assertion-2");
  EXPECT_GE(provider->stats().token_fetches.at(0).count, 1);
  EXPECT_EQ(provider->stats().token_fetches.at(0).mode, "federated_credential");
}

TEST_F(AzureTokens, AWorkloadIdentityTakesEverythingFromTheEnvironment) {
  std::ofstream(dir_ / "token") << "from-kubernetes";
  Endpoint([](const ReceivedRequest&) {
    return TlsReceiver::Http(200, "", TokenAnswer(StorageToken("workload")));
  });
  const EnvironmentVariable tenant("AZURE_TENANT_ID", "tenant-2");
  const EnvironmentVariable client("AZURE_CLIENT_ID", "client-2");
  const EnvironmentVariable file("AZURE_FEDERATED_TOKEN_FILE", dir_ / "token");
  const EnvironmentVariable authority("AZURE_AUTHORITY_HOST", Authority() + "/");
  EXPECT_EQ(Use({.mode = "workload_identity"}), "");
  EXPECT_EQ(endpoint_->Received().at(0).target, "/tenant-2/oauth2/v2.0/token");
  EXPECT_EQ(FormField(endpoint_->Received().at(0).body, "client_assertion"), "from-kubernetes");
  EXPECT_EQ(Use({}), "") << "the default chain finds it";
}

/// A certificate of RSA in the formats that an application may have it in.
struct ApplicationCertificate {
  explicit ApplicationCertificate(const std::filesystem::path& folder) {
    support::Authority authority;
    pem = authority.Issue({.rsa_bits = 2'048});
    std::ofstream(folder / "app.pem") << pem.key << pem.certificate;
    const auto bio = [](const std::string& text) {
      return BIO_new_mem_buf(text.data(), static_cast<int>(text.size()));
    };
    BIO* certificate_bio = bio(pem.certificate);
    BIO* key_bio = bio(pem.key);
    certificate.reset(PEM_read_bio_X509(certificate_bio, nullptr, nullptr, nullptr), X509_free);
    key.reset(PEM_read_bio_PrivateKey(key_bio, nullptr, nullptr, nullptr), EVP_PKEY_free);
    BIO_free(certificate_bio);
    BIO_free(key_bio);
    PKCS12* file = PKCS12_create(kSecretValue.c_str(), "app", key.get(), certificate.get(), nullptr,
                                 0, 0, 0, 0, 0);
    BIO* out = BIO_new_file((folder / "app.p12").c_str(), "wb");
    i2d_PKCS12_bio(out, file);
    BIO_free(out);
    PKCS12_free(file);
  }

  /// Why the assertion of a request is not one of this certificate; empty: it is.
  std::string WhyNot(const ReceivedRequest& request, const std::string& audience) const {
    const std::string jwt = FormField(request.body, "client_assertion");
    const std::size_t first = jwt.find('.');
    const std::size_t second = jwt.rfind('.');
    if (first == std::string::npos || first == second) return "no JWT";
    const Json header = Json::Parse(base::DecodeBase64Url(jwt.substr(0, first)).value_or("{}"));
    const Json claims = Json::Parse(
        base::DecodeBase64Url(jwt.substr(first + 1, second - first - 1)).value_or("{}"));
    if (header["alg"].Text() != "PS256") return "another algorithm";
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    X509_digest(certificate.get(), EVP_sha256(), digest, &size);
    if (header["x5t#S256"].Text() !=
        base::EncodeBase64Url({reinterpret_cast<const char*>(digest), size}))
      return "another certificate";
    if (claims["aud"].Text() != audience) return "for another endpoint";
    if (claims["iss"].Text() != "client-1" || claims["sub"].Text() != "client-1")
      return "of another application";
    if (claims["jti"].Text().empty()) return "no id";
    const auto now_s = static_cast<double>(std::time(nullptr));
    if (claims["exp"].Number() < now_s || claims["exp"].Number() > now_s + 600) return "too long";
    const std::string signature = base::DecodeBase64Url(jwt.substr(second + 1)).value_or("");
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    EVP_PKEY_CTX* parameters = nullptr;
    EVP_DigestVerifyInit(context, &parameters, EVP_sha256(), nullptr, key.get());
    EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING);
    EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST);
    const bool fits =
        EVP_DigestVerify(context, reinterpret_cast<const unsigned char*>(signature.data()),
                         signature.size(), reinterpret_cast<const unsigned char*>(jwt.data()),
                         second) == 1;
    EVP_MD_CTX_free(context);
    return fits ? "" : "wrong signature";
  }

  support::Certificate pem;
  std::shared_ptr<X509> certificate;
  std::shared_ptr<EVP_PKEY> key;
};

TEST_F(AzureTokens, AnApplicationShowsACertificateOfEitherFormat) {
  const ApplicationCertificate certificate(dir_.path());
  std::ofstream(dir_ / "password") << kSecretValue << "\n";
  std::ofstream(dir_ / "wrong") << kSecretValue << "-not\n";
  Endpoint([&certificate](const ReceivedRequest& request) {
    const std::string why = certificate.WhyNot(
        request, "https://" + request.FindHeader("Host").value() + "/tenant-1/oauth2/v2.0/token");
    return why.empty() ? TlsReceiver::Http(200, "", TokenAnswer(StorageToken("certificate")))
                       : TlsReceiver::Http(401, "", R"({"error":")" + why + R"("})");
  });
  AzureOptions who = AsApplication("service_principal");
  who.certificate_file = dir_ / "app.pem";
  EXPECT_EQ(Use(who), "");
  who.certificate_file = dir_ / "app.p12";
  EXPECT_THAT(Use(who), AllOf(HasSubstr("invalid: azure.certificate_file"),
                              HasSubstr("is its password right?")));
  who.certificate_password_file = dir_ / "wrong";
  EXPECT_THAT(Use(who), HasSubstr("is its password right?"));
  who.certificate_password_file = dir_ / "password";
  EXPECT_EQ(Use(who), "");
  EXPECT_EQ(endpoint_->Received().size(), 2U);
  who.certificate_file = dir_ / "none";
  EXPECT_THAT(Use(who), HasSubstr("invalid: azure.certificate_file"));
  std::ofstream(dir_ / "text") << "hello";
  who.certificate_file = dir_ / "text";
  EXPECT_THAT(Use(who), HasSubstr("no PKCS 12"));
  std::ofstream(dir_ / "half") << certificate.pem.certificate;
  who.certificate_file = dir_ / "half";
  EXPECT_THAT(Use(who), HasSubstr("no certificate and private key"));
}

TEST_F(AzureTokens, AnApplicationThatShowsASecretIsWarnedOf) {
  std::ofstream(dir_ / "secret") << kSecretValue;
  Endpoint([](const ReceivedRequest& request) {
    return FormField(request.body, "client_secret") == kSecretValue
               ? TlsReceiver::Http(200, "", TokenAnswer(StorageToken("secret")))
               : TlsReceiver::Http(401, "",
                                   R"({"error":"invalid_client","error_description":)"
                                   R"("AADSTS7000215: Invalid secret hunter2-the-secret"})");
  });
  AzureOptions who = AsApplication("service_principal");
  EXPECT_THAT(Use(who), HasSubstr("invalid: azure.mode service_principal needs"));
  who.client_secret_file = dir_ / "secret";
  EXPECT_EQ(Use(who), "");
  EXPECT_THAT(seen_, HasSubstr("leases.client_secret"));
  EXPECT_THAT(seen_, HasSubstr("leases.secret_readable")) << "everybody can read the file";
  std::ofstream(dir_ / "secret") << "another";
  who.client_id = "client-3";
  EXPECT_THAT(Use(who), AllOf(HasSubstr("denied: "), HasSubstr("invalid_client AADSTS7000215")));
}

// ---- identities of machines

TEST_F(AzureTokens, AnAppServiceIsAskedWithItsHeader) {
  Endpoint([](const ReceivedRequest& request) {
    if (request.FindHeader("X-IDENTITY-HEADER") != "header-1") return TlsReceiver::Http(401);
    // It says only when the token ends.
    return TlsReceiver::Http(
        200, "Date: Thu, 19 Nov 2026 06:00:00 GMT\r\n",
        R"({"expires_on":"1795071600","access_token":")" + StorageToken("app") + R"("})");
  });
  const EnvironmentVariable endpoint("IDENTITY_ENDPOINT", Authority() + "/msi/token");
  const EnvironmentVariable header("IDENTITY_HEADER", "header-1");
  AzureOptions who{.mode = "managed_identity", .client_id = "user-assigned"};
  EXPECT_EQ(Use(who), "");
  EXPECT_EQ(endpoint_->Received().at(0).target,
            "/msi/token?api-version=2019-08-01&resource=https%3A%2F%2Fstorage.azure.com"
            "&client_id=user-assigned");
  EXPECT_EQ(Use({}), "") << "the default chain finds it";
}

/// Answers one request after the other on plain http, as the endpoints of a machine do.
class PlainEndpoint {
 public:
  using Serve = std::function<void(support::HttpReceiver&)>;
  explicit PlainEndpoint(Serve serve)
      : thread_([this, serve = std::move(serve)] { serve(receiver_); }) {}
  ~PlainEndpoint() { thread_.join(); }
  std::string Url() const { return receiver_.Url(); }

 private:
  support::HttpReceiver receiver_;
  std::thread thread_;
};

TEST_F(AzureTokens, AMachineIsAskedForItsIdentity) {
  ReceivedRequest asked;
  {
    const PlainEndpoint endpoint([&](support::HttpReceiver& receiver) {
      asked = receiver.Next();
      receiver.Answer(200, R"({"access_token":")" + StorageToken("machine") +
                               R"(","expires_in":"3599","expires_on":"1"})");
    });
    const EnvironmentVariable host("AZURE_POD_IDENTITY_AUTHORITY_HOST", endpoint.Url());
    EXPECT_EQ(Use({.mode = "managed_identity"}), "");
  }
  EXPECT_EQ(asked.FindHeader("Metadata"), "true");
  EXPECT_EQ(asked.target,
            "/metadata/identity/oauth2/token?api-version=2018-02-01&resource="
            "https%3A%2F%2Fstorage.azure.com");
  const EnvironmentVariable elsewhere("AZURE_POD_IDENTITY_AUTHORITY_HOST", "http://10.0.0.1");
  EXPECT_THAT(Use({.mode = "managed_identity"}),
              AllOf(HasSubstr("invalid: "), HasSubstr("tokens would cross the network")));
}

TEST_F(AzureTokens, AnArcAgentIsShownTheKeyThatItNamesAndNoOtherFile) {
  std::filesystem::create_directory(dir_ / "tokens");
  const std::filesystem::path folder = std::filesystem::canonical(dir_ / "tokens");
  std::ofstream(folder / "a.key") << "the-key";
  std::ofstream(folder / "b.txt") << "no key";
  std::ofstream(dir_ / "c.key") << "elsewhere";
  std::ofstream(folder / "long.key") << std::string(5'000, 'x');
  const auto challenged = [&](const std::string& named) {
    std::string shown;
    std::string outcome;
    const bool good = named == (folder / "a.key").string();
    {
      const PlainEndpoint endpoint([&](support::HttpReceiver& receiver) {
        receiver.Next();
        receiver.Say("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=" + named +
                     "\r\nContent-Length: 0\r\n\r\n");
        if (!good) return;
        receiver.HangUp();
        shown = receiver.Next().FindHeader("Authorization").value_or("");
        receiver.Answer(200, TokenAnswer("t-1"));
      });
      const auto source = client::ArcSource(endpoint.Url() + "/token", "", folder);
      try {
        outcome = source->Get("https://storage.azure.com/.default", kAmpleTime).text;
      } catch (const ProviderUnavailable& error) {
        outcome = error.what();
      }
    }
    return good ? shown + " " + outcome : outcome;
  };
  EXPECT_EQ(challenged(folder / "a.key"), "Basic the-key t-1");
  for (const std::string& bad :
       {(folder / "b.txt").string(), (dir_ / "c.key").string(), (folder / ".." / "c.key").string(),
        std::string("/etc/passwd"), std::string("")})
    EXPECT_THAT(challenged(bad), HasSubstr("is no key of the agent")) << bad;
  EXPECT_THAT(challenged(folder / "long.key"), HasSubstr("cannot be read"));
  EXPECT_THAT(challenged(folder / "none.key"), HasSubstr("cannot be read"));
}

TEST_F(AzureTokens, TheDevelopmentCredentialIsForDevelopmentOnly) {
  std::filesystem::create_directory(dir_ / "bin");
  const auto az = [&](const std::string& body) {
    std::ofstream(dir_ / "bin" / "az") << "#!/bin/sh\n" << body << "\n";
    std::filesystem::permissions(dir_ / "bin" / "az", std::filesystem::perms::owner_all);
  };
  const std::string old_path = std::getenv("PATH");
  az("echo \"$@\" > " + (dir_ / "asked").string() + "\ncat <<'END'\n{\"accessToken\":\"" +
     StorageToken("az") + "\",\"expires_on\":" + std::to_string(std::time(nullptr) + 3'600) +
     "}\nEND");
  EXPECT_THAT(Use({.mode = "development"}), HasSubstr("only for TENURE_ENVIRONMENT=development"));
  ::setenv("PATH", ((dir_ / "bin").string() + ":" + old_path).c_str(), 1);
  {
    const EnvironmentVariable development("TENURE_ENVIRONMENT", "development");
    EXPECT_EQ(Use({.mode = "development"}), "");
    EXPECT_EQ(
        support::ReadFile(dir_ / "asked"),
        "account get-access-token --output json --scope https://storage.azure.com/.default\n");
    EXPECT_EQ(Use({}), "") << "the default chain finds it";
    az("echo no >&2; exit 1");
    EXPECT_THAT(Use({.mode = "development"}), HasSubstr("is somebody signed in"));
    az("echo '{}'");
    EXPECT_THAT(Use({.mode = "development"}), HasSubstr("no accessToken"));
  }
  ::setenv("PATH", old_path.c_str(), 1);
}

// ---- what goes wrong

TEST_F(AzureTokens, WhatIsNoTokenIsRefusedAndSaidWhy) {
  std::ofstream(dir_ / "token") << kSecretValue;
  std::string answer;
  Endpoint([&](const ReceivedRequest&) {
    const std::lock_guard lock(mutex_);
    return answer;
  });
  int count = 0;
  const auto refused = [&](const std::string& with) {
    {
      const std::lock_guard lock(mutex_);
      answer = with;
    }
    AzureOptions who = AsApplication("federated_credential");
    who.token_file = dir_ / "token";
    who.client_id += std::to_string(++count);  // another identity: nothing is remembered
    return Use(who);
  };
  EXPECT_THAT(refused(TlsReceiver::Http(200, "", "<html>")), HasSubstr("unavailable: no token"));
  EXPECT_THAT(refused(TlsReceiver::Http(200, "", "[]")), HasSubstr("no JSON object"));
  EXPECT_THAT(refused(TlsReceiver::Http(200, "", R"({"access_token":"x"})")),
              HasSubstr("no expires_in"));
  EXPECT_THAT(refused(TlsReceiver::Http(200, "", R"({"expires_in":60})")),
              HasSubstr("no access_token"));
  EXPECT_THAT(
      refused(TlsReceiver::Http(200, "", R"({"access_token":"a\r\nX-Evil: 1","expires_in":60})")),
      HasSubstr("no access_token"));
  EXPECT_THAT(refused(TlsReceiver::Http(302, "Location: https://127.0.0.1:1/\r\n")),
              HasSubstr("redirects"));
  EXPECT_THAT(refused(TlsReceiver::Http(200, "", std::string(1 << 20, ' '))),
              HasSubstr("unavailable: no token"));
  EXPECT_THAT(refused(TlsReceiver::Http(500)), HasSubstr("answers 500"));
  EXPECT_THAT(refused(TlsReceiver::Http(400, "", R"({"error":"invalid_request"})")),
              HasSubstr("denied: no token (federated_credential): the endpoint answers 400"));
  EXPECT_THAT(refused(TlsReceiver::kReset), HasSubstr("unavailable: no token"));
  std::ofstream(dir_ / "token") << "";
  EXPECT_THAT(refused(""), HasSubstr("empty"));
  std::filesystem::remove(dir_ / "token");
  EXPECT_THAT(refused(""), HasSubstr("unavailable: no token"));
  EXPECT_THAT(Use({.mode = "magic"}), HasSubstr("invalid: azure.mode must be"));
  EXPECT_THAT(Use({.mode = "workload_identity"}), HasSubstr("AZURE_FEDERATED_TOKEN_FILE"));
  AzureOptions who = AsApplication("federated_credential");
  EXPECT_THAT(Use(who), HasSubstr("needs azure.token_file"));
  who.token_file = dir_ / "token";
  who.authority = "http://127.0.0.1:1";
  EXPECT_THAT(Use(who), HasSubstr("must begin with https://"));
  who.authority.clear();
  who.tenant_id.clear();
  EXPECT_THAT(Use(who), HasSubstr("needs azure.tenant_id"));
}

TEST_F(AzureTokens, OfTwoCredentialsTheFirstIsUsedAndTheOtherWarnedOf) {
  const auto never = std::make_shared<OwnSource>([](std::string_view) -> AccessToken {
    ADD_FAILURE() << "the connection string comes first";
    return {};
  });
  EXPECT_EQ(Use({.connection_string = Blobs().ConnectionString(), .credential = never}), "");
  EXPECT_THAT(seen_, HasSubstr("leases.two_credentials"));
}

/// A source that a test holds up.
class SlowSource final : public TokenSource {
 public:
  AccessToken Get(std::string_view, std::chrono::milliseconds) override {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !slow_; });
    return {StorageToken(std::to_string(asked_)), life_};
  }
  void Set(bool slow, std::chrono::milliseconds life) {
    const std::lock_guard lock(mutex_);
    slow_ = slow;
    life_ = life;
    changed_.notify_all();
  }
  void AwaitAsked(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return asked_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool slow_ = false;
  int asked_ = 0;
  std::chrono::milliseconds life_{2'000};
};

TEST_F(AzureTokens, ASlowEndpointDelaysNobodyWhileTheTokenIsValid) {
  const auto source = std::make_shared<SlowSource>();
  source->Set(false, std::chrono::minutes(1));
  client::TokenCache cache(source, "scope", "slow", std::make_shared<client::ProviderCounters>(),
                           {.early = std::chrono::minutes(10), .first_pause = Milliseconds(1)});
  const auto get = [&] { return cache.Get({.until_ms = BootClock().NowMs() + 20'000}); };
  const std::string first = get();
  EXPECT_EQ(get(), first);
  source->Set(true, std::chrono::minutes(1));
  std::thread refused([&] {  // the store says that it does not take the token: another is fetched
    EXPECT_NE(cache.InPlaceOf(first, {.until_ms = BootClock().NowMs() + 20'000}), std::nullopt);
  });
  source->AwaitAsked(2);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(get(), first) << "the old one serves until its end";
  source->Set(false, std::chrono::minutes(1));
  refused.join();
  EXPECT_NE(get(), first);
}

TEST_F(AzureTokens, ATokenThatEndsIsRenewedAndNobodyWaits) {
  const auto source = std::make_shared<SlowSource>();  // each lasts for two seconds
  const auto manager =
      Open(Blobs().Url("tokens", "create=1&min_ttl=1s"), {.azure = {.credential = source}});
  std::atomic<int> renewed = 0;
  Lease lease = manager->Acquire("ends/" + NewTerm(), kAmpleTime,
                                 {.ttl = Milliseconds(3'000), .renew_at = 0.1},
                                 {.renewed = [&](const Renewed&) {
                                   ++renewed;
                                   renewed.notify_all();
                                 }});
  source->AwaitAsked(3);
  const int before = renewed;
  for (int now = before; now < before + 2; now = renewed) renewed.wait(now);
  EXPECT_TRUE(lease.Held());
  EXPECT_EQ(manager->stats().renewal_failures, 0);
}

TEST_F(AzureTokens, ATokenThatWasRevokedIsReplacedAtOnce) {
  std::atomic<int> asked = 0;
  const auto source = std::make_shared<OwnSource>([&](std::string_view) {
    // The first one is not for this store.
    return AccessToken{++asked == 1 ? "eyJhbGciOiJub25lIn0.e30.x" : StorageToken("second"),
                       std::chrono::hours(1)};
  });
  EXPECT_EQ(Use({.credential = source}), "");
  EXPECT_EQ(asked, 2);
}

TEST_F(AzureTokens, ACosmosDbTakesTokensInItsOwnForm) {
  const std::string token = "cosmos-token-1";
  support::CosmosServer server([&](const ReceivedRequest& request) -> std::string {
    const std::string given = request.FindHeader("Authorization").value_or("");
    return given == "type%3Daad%26ver%3D1.0%26sig%3D" + token ? "" : "another token";
  });
  std::string scope;
  const auto source = std::make_shared<OwnSource>([&](std::string_view asked) {
    scope = asked;
    return AccessToken{token, std::chrono::hours(1)};
  });
  const auto connection =
      OpenProvider(server.Url("c", "create=1"), {.azure = {.credential = source}})->Connect();
  EXPECT_TRUE(std::holds_alternative<Grant>(
      connection->Acquire({.name = "a", .term = NewTerm()}, kAmpleTime)));
  EXPECT_EQ(scope, "https://cosmos.azure.com/.default");
}

}  // namespace
}  // namespace tenure::leases
