#include "support/azure_stores.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <random>

#include <openssl/evp.h>

namespace tenure::support {
namespace {

std::filesystem::path NodeModules() { return SourceDir() / "tests" / "node" / "node_modules"; }

/// 64 bytes in base64, new in each run.
std::string NewAccountKey() {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::random_device random;
  std::string key;
  for (int i = 0; i < 84; ++i) key += kDigits[random() % kDigits.size()];
  return key + "AA==";  // 86 digits and what is left of the last byte
}

}  // namespace

bool HasAzureStores() {
  return std::filesystem::exists(NodeModules() / "azurite") &&
         std::filesystem::exists(NodeModules() / "@vercel" / "cosmosdb-server");
}

bool HasAzureStoresAndTime() {
  return HasAzureStores() && std::getenv("TENURE_TEST_LONG") != nullptr;
}

TlsFiles::TlsFiles() {
  const Certificate certificate = authority_.Issue();
  std::ofstream(ca_file()) << authority_.pem();
  std::ofstream(cert_file()) << certificate.certificate;
  std::ofstream(key_file()) << certificate.key;
}

Azurite::Azurite() : key_(NewAccountKey()) { Start(); }

std::string Azurite::endpoint() const {
  return "https://127.0.0.1:" + std::to_string(port()) + "/" + kAccount;
}

std::string Azurite::Url(const std::string& container, const std::string& parameters) const {
  return std::string("azblob://") + kAccount + "/" + container + "?endpoint=" + endpoint() +
         "&ca_file=" + tls_.ca_file().string() + (parameters.empty() ? "" : "&" + parameters);
}

std::string Azurite::ConnectionString() const {
  return std::string("AccountName=") + kAccount + ";AccountKey=" + key_;
}

void Azurite::Kill() {
  server_->Kill(SIGKILL);
  server_->Wait();
}

void Azurite::Start() {
  server_ = std::make_unique<Process>(ProcessOptions{
      .argv = {"node", NodeModules() / "azurite" / "dist" / "src" / "blob" / "main.js",
               "--blobHost", "127.0.0.1", "--blobPort", std::to_string(port()), "--location",
               dir_ / "data", "--cert", tls_.cert_file(), "--key", tls_.key_file(), "--oauth",
               "basic", "--silent", "--disableTelemetry", "--disableProductStyleUrl"},
      .environment = {{"AZURITE_ACCOUNTS", std::string(kAccount) + ":" + key_}},
      .working_dir = dir_.path(),
      .output = dir_ / "azurite.log"});
  server_->WaitForLine("successfully listens on");
}

namespace {

std::string DecodedKey(const std::string& base64) {
  std::string bytes(base64.size(), '\0');
  EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                  reinterpret_cast<const unsigned char*>(base64.data()),
                  static_cast<int>(base64.size()));
  bytes.resize(64);
  return bytes;
}

}  // namespace

CosmosServer::CosmosServer(StoreGateway::Check check) : key_(NewAccountKey()) {
  Start();
  if (!check)
    check = [key = DecodedKey(key_)](const ReceivedRequest& request) {
      return WhyNotSignedForCosmos(request, key);
    };
  gateway_ = std::make_unique<StoreGateway>(port_.number(), tls_.authority().pem(),
                                            tls_.authority(), std::move(check));
  // A read of a document that is not there is 500 without it.
  gateway_->AddHeader("x-ms-documentdb-query-enablecrosspartition", "True");
}

std::string CosmosServer::endpoint() const {
  return "https://127.0.0.1:" + std::to_string(gateway_->port());
}

std::string CosmosServer::Url(const std::string& container, const std::string& parameters) const {
  return "cosmos://tenuretest/leases/" + container + "?endpoint=" + endpoint() +
         "&ca_file=" + tls_.ca_file().string() + (parameters.empty() ? "" : "&" + parameters);
}

std::string CosmosServer::ConnectionString() const {
  return "AccountEndpoint=" + endpoint() + "/;AccountKey=" + key_;
}

void CosmosServer::Kill() {
  server_->Kill(SIGKILL);
  server_->Wait();
}

void CosmosServer::Start() {
  server_ = std::make_unique<Process>(
      ProcessOptions{.argv = {"node", SourceDir() / "tests" / "node" / "cosmosdb.mjs",
                              std::to_string(port_.number()), tls_.cert_file(), tls_.key_file()},
                     .working_dir = dir_.path(),
                     .output = dir_ / "cosmosdb.log"});
  server_->WaitForLine("listens on");
}

void Azurite::Forget() {
  Kill();
  std::filesystem::remove_all(dir_ / "data");
  Start();
}

}  // namespace tenure::support
