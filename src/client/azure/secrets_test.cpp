// What may never be seen of a secret: every way to say who asks, at endpoints and stores that repeat in their refusals whatever
// they were sent; then logs of every level, errors, names and counters are searched for all of it.

#include <atomic>
#include <ctime>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/base64.hpp"
#include "base/log.hpp"
#include "client/azure/token_sources.hpp"
#include "support/azure_stores.hpp"
#include "support/http_receiver.hpp"
#include "support/redis_server.hpp"
#include "tenure/leases/manager.hpp"
#include "tenure/log.hpp"

namespace tenure::leases {
namespace {

using support::ReceivedRequest;
using support::StoreGateway;
using support::TlsReceiver;
using testing::HasSubstr;
using testing::Not;

constexpr Milliseconds kTimeOfSecrets{20'000};
/// Part of each secret. Base64 keeps it, and so do urls and forms.
const std::string kMark = "hunter2hunter2secret";

std::string MarkedToken() {
  const std::int64_t now_s = std::time(nullptr);
  const std::string claims = R"({"aud":"https://storage.azure.com",)"
                             R"("iss":"https://sts.windows.net/t/","oid":"oid-1","nbf":)" +
                             std::to_string(now_s - 60) + R"(,"iat":)" +
                             std::to_string(now_s - 60) + R"(,"exp":)" +
                             std::to_string(now_s + 3'600) + "}";
  return base::EncodeBase64Url(R"({"alg":"RS256","typ":"JWT"})") + "." +
         base::EncodeBase64Url(claims) + "." + kMark;
}

/// All that a request says, as a text inside of JSON.
std::string Echo(const ReceivedRequest& request) {
  std::string all = request.target + " " + request.body;
  for (const auto& [name, value] : request.headers) all += " " + name + ": " + value;
  std::string plain;
  for (const char c : all) plain += c == '"' || c == '\\' || c < ' ' ? '?' : c;
  return plain;
}

/// A token, or the refusal of a server that repeats all.
std::string TokenOrEcho(const ReceivedRequest& request, bool gives) {
  if (gives)
    return TlsReceiver::Http(
        200, "",
        R"({"token_type":"Bearer","expires_in":3600,"access_token":")" + MarkedToken() + R"("})");
  return TlsReceiver::Http(
      401, "WWW-Authenticate: Bearer realm=\"" + Echo(request) + "\"\r\n",
      R"({"error":")" + Echo(request) + R"(","error_description":")" + Echo(request) + R"("})");
}

class MarkedSource final : public TokenSource {
 public:
  AccessToken Get(std::string_view, std::chrono::milliseconds) override {
    return {MarkedToken(), std::chrono::hours(1)};
  }
};

class AzureSecrets : public testing::Test {
 protected:
  void SetUp() override {
    if (!support::HasAzureStores())
      GTEST_SKIP() << "npm ci was not run in tests/node; ./test does it";
    gateway_.emplace(Blobs().port(), Blobs().tls().authority().pem(), Blobs().tls().authority(),
                     nullptr);
    endpoint_.emplace(Blobs().tls().authority(), [this](const ReceivedRequest& request) {
      return TokenOrEcho(request, gives_);
    });
    base::SetLogLevel(base::LogLevel::kDebug);
    SetLogHook([this](const LogLine& line) {
      std::string text = std::string(line.event) + " " + std::string(line.message);
      for (const auto& [name, value] : line.fields) text += " " + value;
      See(text);
    });
  }
  void TearDown() override {
    SetLogHook(nullptr);
    base::SetLogLevel(base::LogLevel::kInfo);
    for (const std::string& name : names_) ::unsetenv(name.c_str());
    for (const std::string& secret : secrets_) EXPECT_THAT(seen_, Not(HasSubstr(secret)));
  }

  static support::Azurite& Blobs() {
    static support::Azurite azurite;
    return azurite;
  }
  void See(const std::string& text) {
    const std::lock_guard lock(mutex_);
    seen_ += text + "\n";
  }
  void Set(const std::string& name, const std::string& value) {
    names_.push_back(name);
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(dir_ / name) << text;
    return dir_ / name;
  }

  /// What it says of itself, and what becomes of a lease there.
  std::string Try(const std::function<std::unique_ptr<Provider>()>& open) {
    std::string outcome;
    try {
      const auto provider = open();
      See(std::string(provider->name()) + " " + provider->advice());
      try {
        const std::string term = NewTerm();
        const auto connection = provider->Connect();
        connection->Acquire({.name = "secrets/" + term, .term = term}, kTimeOfSecrets);
        connection->Release({.name = "secrets/" + term, .term = term}, kTimeOfSecrets);
        outcome = "used";
      } catch (const LeaseError& error) {
        outcome = error.what();
        See(outcome + " " + error.lease());
      }
      const ProviderStats stats = provider->stats();
      for (const auto& each : stats.requests) See(each.operation + " " + each.outcome);
      for (const auto& each : stats.token_fetches) See(each.mode + " " + each.result);
    } catch (const std::exception& error) {
      outcome = error.what();
      See(outcome);
    }
    return outcome;
  }
  /// With a store that takes it, then with one that refuses and repeats it, then with an endpoint that does.
  void TryAll(AzureOptions who) {
    const auto url = [&] {
      return "azblob://tenuretest/secrets?create=1&endpoint=https://127.0.0.1:" +
             std::to_string(gateway_->port()) +
             "/tenuretest&ca_file=" + Blobs().tls().ca_file().string();
    };
    const auto open = [&] { return OpenProvider(url(), {.azure = who}); };
    gives_ = true;
    EXPECT_EQ(Try(open), "used");
    gateway_->Interfere([](const ReceivedRequest& request, const StoreGateway::Forward&) {
      return TlsReceiver::Http(403, "x-ms-error-code: AuthenticationFailed\r\n",
                               "<Error><Message>" + Echo(request) + "</Message></Error>");
    });
    EXPECT_THAT(Try(open), HasSubstr("403 AuthenticationFailed"));
    gateway_->Interfere(nullptr);
    gives_ = false;
    Try(open);
  }
  AzureOptions AsApplicationAt(const TlsReceiver& endpoint, const std::string& mode) const {
    return {.mode = mode,
            .tenant_id = "tenant-1",
            .client_id = "client-1",
            .authority = endpoint.Url("")};
  }

  const support::TempDir dir_;
  std::vector<std::string> secrets_{kMark, base::EncodeBase64(kMark).substr(0, 20)};
  std::vector<std::string> names_;
  std::atomic<bool> gives_ = true;
  std::optional<StoreGateway> gateway_;
  std::optional<TlsReceiver> endpoint_;
  std::mutex mutex_;
  std::string seen_;
};

TEST_F(AzureSecrets, AnAccountsKeyIsNeverSeen) {
  const std::string all = Blobs().ConnectionString();
  secrets_.push_back(all.substr(all.find("AccountKey=") + 11, 40));
  TryAll({.connection_string = all});
  const auto refused = [&](const std::string& connection_string) {
    return Try([&] {
      return OpenProvider(Blobs().Url("secrets"),
                          {.azure = {.connection_string = connection_string}});
    });
  };
  // One that is not the account's, and ones that are none.
  EXPECT_THAT(refused("AccountName=tenuretest;AccountKey=" + kMark + "AAA="),
              HasSubstr("InvalidAuthenticationInfo"));
  for (const std::string& bad : {"AccountName=tenuretest;AccountKey=" + kMark + "!",
                                 "AccountKey=" + kMark + "AAA=", kMark + "=" + kMark, kMark,
                                 "AccountName=tenuretest;Else=" + kMark})
    EXPECT_NE(refused(bad), "used") << bad;
}

TEST_F(AzureSecrets, TheTokenOfAProgramIsNeverSeen) {
  TryAll({.credential = std::make_shared<MarkedSource>()});
}

TEST_F(AzureSecrets, TokensOfOtherIssuersAreNeverSeen) {
  AzureOptions who = AsApplicationAt(*endpoint_, "federated_credential");
  who.token_file = Write("token", kMark);
  TryAll(who);
  Set("AZURE_TENANT_ID", "tenant-1");
  Set("AZURE_CLIENT_ID", "client-1");
  Set("AZURE_FEDERATED_TOKEN_FILE", Write("kubernetes", kMark));
  Set("AZURE_AUTHORITY_HOST", endpoint_->Url(""));
  TryAll({.mode = "workload_identity"});
}

TEST_F(AzureSecrets, AnApplicationsSecretAndKeyAreNeverSeen) {
  AzureOptions who = AsApplicationAt(*endpoint_, "service_principal");
  who.client_secret_file = Write("secret", kMark);
  TryAll(who);
  who.client_secret_file.clear();
  Set("AZURE_CLIENT_SECRET", kMark);
  TryAll(who);
  const support::Certificate certificate = support::Authority().Issue({.rsa_bits = 2'048});
  secrets_.push_back(certificate.key.substr(certificate.key.find('\n') + 1, 60));
  who.certificate_file = Write("app.pem", certificate.key + certificate.certificate);
  TryAll(who);
  who.certificate_file = Write("half.pem", certificate.key);
  Try([&] { return OpenProvider(Blobs().Url("secrets"), {.azure = who}); });
  who.certificate_password_file = Write("password", kMark);
  Try([&] { return OpenProvider(Blobs().Url("secrets"), {.azure = who}); });
}

/// Answers so many requests on plain http, as the endpoints of a machine do.
void ServePlain(support::HttpReceiver& receiver, int count, bool gives) {
  for (int i = 0; i < count; ++i) {
    const ReceivedRequest request = receiver.Next();
    receiver.Say(TokenOrEcho(request, gives));
    receiver.HangUp();
  }
}

TEST_F(AzureSecrets, WhatAMachineShowsIsNeverSeen) {
  Set("IDENTITY_ENDPOINT", endpoint_->Url("/msi/token"));
  Set("IDENTITY_HEADER", kMark);
  TryAll({.mode = "managed_identity"});
  for (const char* name : {"IDENTITY_ENDPOINT", "IDENTITY_HEADER"}) ::unsetenv(name);
  for (const bool gives : {true, false}) {
    support::HttpReceiver receiver;
    Set("AZURE_POD_IDENTITY_AUTHORITY_HOST", receiver.Url());
    std::thread server([&] { ServePlain(receiver, 1, gives); });
    const std::string outcome = Try([&] {
      return OpenProvider(Blobs().Url("secrets", "create=1"),
                          {.azure = {.mode = "managed_identity"}});
    });
    server.join();
    EXPECT_EQ(outcome == "used", gives) << outcome;
  }
}

TEST_F(AzureSecrets, TheKeyOfAnArcAgentIsNeverSeen) {
  const std::filesystem::path folder = std::filesystem::canonical(dir_.path());
  Write("agent.key", kMark);
  support::HttpReceiver receiver;
  std::thread server([&] {
    receiver.Next();
    receiver.Say("HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=" +
                 (folder / "agent.key").string() + "\r\nContent-Length: 0\r\n\r\n");
    receiver.HangUp();
    ServePlain(receiver, 1, false);
  });
  const auto source = client::ArcSource(receiver.Url() + "/token", "", folder);
  try {
    source->Get("https://storage.azure.com/.default", kTimeOfSecrets);
    ADD_FAILURE() << "it was refused";
  } catch (const LeaseError& error) {
    See(error.what());
  }
  server.join();
}

TEST_F(AzureSecrets, WhatTheCommandOfADeveloperSaysIsNeverSeen) {
  std::filesystem::create_directory(dir_ / "bin");
  const std::string old_path = std::getenv("PATH");
  ::setenv("PATH", ((dir_ / "bin").string() + ":" + old_path).c_str(), 1);
  Set("TENURE_ENVIRONMENT", "development");
  for (const std::string& body :
       {R"(echo '{"accessToken":")" + MarkedToken() + R"(","expires_on":)" +
            std::to_string(std::time(nullptr) + 3'600) + "}'",
        "echo " + kMark + " >&2; echo " + kMark + "; exit 1", "echo '{\"" + kMark + "\":1}'"}) {
    Write("bin/az", "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(dir_ / "bin" / "az", std::filesystem::perms::owner_all);
    Try([&] {
      return OpenProvider(Blobs().Url("secrets", "create=1"), {.azure = {.mode = "development"}});
    });
  }
  ::setenv("PATH", old_path.c_str(), 1);
  EXPECT_THAT(seen_, HasSubstr("development"));
}

TEST_F(AzureSecrets, NeitherKeyNorTokenIsSeenAtACosmosDb) {
  support::CosmosServer refusing([](const ReceivedRequest& request) { return Echo(request); });
  const auto opened = [&](AzureOptions who) {
    return Try(
        [&] { return OpenProvider(refusing.Url("c", "create=1"), {.azure = std::move(who)}); });
  };
  EXPECT_NE(opened({.credential = std::make_shared<MarkedSource>()}), "used");
  EXPECT_NE(opened({.connection_string = "AccountEndpoint=" + refusing.endpoint() +
                                         "/;AccountKey=" + kMark + "AAA="}),
            "used");
}

TEST_F(AzureSecrets, NeitherPasswordNorTokenIsSeenAtARedis) {
  const support::RedisServer server({.durable = true, .tls = true});
  EXPECT_NE(Try([&] {
              return OpenProvider(server.TlsUrl(),
                                  {.azure = {.credential = std::make_shared<MarkedSource>()}});
            }),
            "used");
  EXPECT_NE(Try([&] {
              return OpenProvider(server.TlsUrl("user=app&password_file=" + Write("redis", kMark)));
            }),
            "used");
  for (const std::string& bad :
       {"rediss://app:" + kMark + "@[::1/0", "rediss://:" + kMark + "@/0?x=1",
        "redis://u:" + kMark + "@redis.example:6379"})
    EXPECT_NE(Try([&] { return OpenProvider(bad); }), "used");
}

}  // namespace
}  // namespace tenure::leases
