#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "support/raw_http.hpp"
#include "support/tls_receiver.hpp"

namespace tenure::support {

/// Stands between programs and a store of this machine that speaks HTTPS, and sees each request: it
/// checks what the store does not check, and does to requests and answers what a network or a
/// service can do. Any thread.
class StoreGateway {
 public:
  /// Asks the store. Each call is a request of its own.
  using Forward = std::function<HttpResponse()>;
  /// Makes the bytes of the answer (TlsReceiver::Http, kReset, kHang, or `Bytes` of what the store
  /// said).
  using Interference = std::function<std::string(const ReceivedRequest&, const Forward&)>;
  /// Why a request is not allowed; empty: it is.
  using Check = std::function<std::string(const ReceivedRequest&)>;

  /// `authority_pem` signed the store's certificate; `authority` signs the gateway's.
  StoreGateway(int store_port, std::string authority_pem, Authority& authority, Check check);

  int port() const { return receiver_.port(); }
  /// From now on; null: everything passes as it is.
  void Interfere(Interference interference);
  /// Sent to the store with every request that does not have it. Before the first request.
  void AddHeader(std::string name, std::string value);
  /// What the check refused so far.
  std::vector<std::string> refused() const;
  std::vector<ReceivedRequest> Received() const { return receiver_.Received(); }
  std::size_t most_at_once() const { return receiver_.most_at_once(); }

  static std::string Bytes(const HttpResponse& response);

 private:
  std::string Answer(const ReceivedRequest& request);
  HttpResponse Ask(const ReceivedRequest& request);

  const int store_port_;
  const TlsClientOptions trusted_;
  const Check check_;
  mutable std::mutex mutex_;  // guards what follows
  Interference interference_;
  HttpHeaders added_;
  std::vector<std::string> refused_;
  std::vector<std::unique_ptr<HttpConnection>> idle_;
  TlsReceiver receiver_;  // last: its threads use the rest
};

/// Why the Authorization of a request to a Cosmos DB is not one of this account's key; empty: it is.
/// Made from the documentation, not from what Tenure does. `key`: its bytes.
std::string WhyNotSignedForCosmos(const ReceivedRequest& request, const std::string& key);

}  // namespace tenure::support
