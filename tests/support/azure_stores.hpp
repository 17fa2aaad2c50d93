#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "support/port.hpp"
#include "support/process.hpp"
#include "support/store_gateway.hpp"
#include "support/temp_dir.hpp"
#include "support/tls.hpp"

namespace tenure::support {

/// Whether `npm ci` was run in tests/node, where the two stores are; ./test does it.
bool HasAzureStores();
/// The same where the stores are not the point, and the seconds that they take are for --long.
bool HasAzureStoresAndTime();

/// An authority and a certificate of this machine in a folder, for servers of tests.
class TlsFiles {
 public:
  TlsFiles();
  std::filesystem::path ca_file() const { return dir_.path() / "ca.pem"; }
  std::filesystem::path cert_file() const { return dir_.path() / "cert.pem"; }
  std::filesystem::path key_file() const { return dir_.path() / "key.pem"; }
  Authority& authority() { return authority_; }

 private:
  const TempDir dir_;
  Authority authority_;
};

/// Azurite, the blob service of Microsoft's emulator, with https, a key of its own and data in a
/// temporary folder. It ends with this object. For one thread.
class Azurite {
 public:
  Azurite();
  Azurite(const Azurite&) = delete;
  Azurite& operator=(const Azurite&) = delete;

  std::string Url(const std::string& container, const std::string& parameters = {}) const;
  std::string endpoint() const;
  std::string ConnectionString() const;
  const std::string& key() const { return key_; }  ///< in base64
  TlsFiles& tls() { return tls_; }
  int port() const { return port_.number(); }

  void Kill();    ///< without warning; what it wrote in the last seconds is lost
  void Start();   ///< on what it kept. REQUIRES: it was killed
  void Forget();  ///< killed, and started on nothing

  static constexpr const char* kAccount = "tenuretest";

 private:
  const TempDir dir_;
  TlsFiles tls_;
  const ReservedPort port_;
  const std::string key_;
  std::unique_ptr<Process> server_;
};

/// A Cosmos DB server with https, in memory, behind a gateway that checks what it does not check (the
/// signatures) and mends the one answer that it gets wrong. It ends with this object. For one thread,
/// but the gateway.
class CosmosServer {
 public:
  /// `check`: instead of that of the key.
  explicit CosmosServer(StoreGateway::Check check = nullptr);
  CosmosServer(const CosmosServer&) = delete;
  CosmosServer& operator=(const CosmosServer&) = delete;

  std::string Url(const std::string& container, const std::string& parameters = {}) const;
  std::string endpoint() const;
  std::string ConnectionString() const;
  StoreGateway& gateway() { return *gateway_; }
  TlsFiles& tls() { return tls_; }

  void Kill();   ///< without warning; it has forgotten everything
  void Start();  ///< REQUIRES: it was killed
  void Forget() { Kill(), Start(); }

 private:
  const TempDir dir_;
  TlsFiles tls_;
  const ReservedPort port_;
  const std::string key_;
  std::unique_ptr<Process> server_;
  std::unique_ptr<StoreGateway> gateway_;
};

}  // namespace tenure::support
