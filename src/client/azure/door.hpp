#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/mutex.hpp"
#include "client/azure/address.hpp"
#include "client/azure/identity.hpp"
#include "client/azure/signature.hpp"
#include "client/cas/store.hpp"
#include "client/http/transport.hpp"

namespace tenure::client {

/// Requests to one account: dated, signed, sent, and what came back looked at for what concerns all
/// of them. Threads: any, at once.
class AzureDoor {
 public:
  AzureDoor(const AzureAddress& address, AzureIdentity who,
            std::shared_ptr<ProviderCounters> counters);

  /// Whatever it answers. Throws CallFailed when there is no answer.
  http::ClientResponse Send(AzureRequest request, const CasCall& call);
  /// The same to the account itself, wherever its writes go now.
  http::ClientResponse SendToAccount(AzureRequest request, const CasCall& call);
  /// From now on requests go to this region of the account. Throws CallFailed for what is none.
  void MoveTo(const std::string& endpoint);

  /// "/account" behind an emulator's host, else empty.
  const std::string& endpoint_path() const { return path_; }

 private:
  std::string Now() const;
  void Observe(const http::ClientResponse& response);
  http::ClientResponse SendVia(Transport& transport, const AzureRequest& request,
                               const CasCall& call);
  http::ClientResponse SendOnce(Transport& transport, AzureRequest request,
                                const std::string& token, const CasCall& call);
  std::string Authorization(const AzureRequest& request, const std::string& date,
                            const std::string& token) const;
  std::shared_ptr<Transport> MakeTransport(const std::string& endpoint) const;

  const AzureAddress address_;
  const AzureIdentity who_;
  const std::shared_ptr<ProviderCounters> counters_;
  const std::string path_;
  const std::shared_ptr<Transport> account_;
  mutable base::Mutex mutex_;
  std::string region_ TENURE_GUARDED_BY(mutex_);  // empty: the account's own endpoint
  std::shared_ptr<Transport> transport_ TENURE_GUARDED_BY(mutex_);
  std::atomic<std::int64_t> store_ahead_ms_ = 0;  // of this machine's wall clock
};

/// A header with the store's time, in whole seconds. Throws CallFailed where there is none; `wrote`:
/// then the outcome is unknown.
std::int64_t StampOf(const http::ClientResponse& response, std::string_view header, bool wrote);
/// The service's own word for what is wrong ("ContainerNotFound"); empty: none that can be shown.
std::string ErrorCodeOf(const http::ClientResponse& response);

/// Throws what an answer is that no step expected.
[[noreturn]] void RefuseAzure(const http::ClientResponse& response, bool writes,
                              std::string_view what);

}  // namespace tenure::client
