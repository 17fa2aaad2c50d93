#include "tenure/messages/client.hpp"

#include "base/host.hpp"
#include "client/messages/backend.hpp"

namespace tenure::messages {

class Client::Impl {
 public:
  Impl(std::string_view url, const ClientOptions& options)
      : timeout_(options.timeout),
        backend_(client::OpenMessages(
            url,
            {.pooled = options.pooled, .ca_file = options.ca_file, .insecure = options.insecure})) {
  }

  client::MessageBackend& backend() { return *backend_; }
  Milliseconds timeout() const { return timeout_; }

  std::vector<Outcome> Settle(Disposition disposition, std::span<const Delivery> deliveries,
                              std::optional<Milliseconds> lease = {}) {
    std::vector<client::Settlement> settlements;
    for (const Delivery& each : deliveries) settlements.push_back({each.id, each.fence, {}, {}});
    return backend_->Settle(disposition, settlements, lease, timeout_);
  }
  Outcome Settle(Disposition disposition, const client::Settlement& settlement) {
    return backend_->Settle(disposition, {&settlement, 1}, {}, timeout_).front();
  }

 private:
  const Milliseconds timeout_;
  const std::unique_ptr<client::MessageBackend> backend_;
};

Client::Client(std::string_view url, const ClientOptions& options)
    : impl_(std::make_unique<Impl>(url, options)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Enqueued Client::Enqueue(const Message& message) {
  return Enqueue(std::span<const Message>(&message, 1)).front();
}

std::vector<Enqueued> Client::Enqueue(std::span<const Message> messages) {
  return impl_->backend().Enqueue(messages, impl_->timeout());
}

std::vector<Delivery> Client::Claim(const ClaimOptions& options, std::stop_token stop) {
  client::MessageClaim claim;
  claim.topics = options.topics;
  claim.max = options.max;
  claim.wait = options.wait;
  claim.lease = options.lease;
  claim.owner = options.owner.empty() ? base::HostAndPid() : options.owner;
  return impl_->backend().Claim(claim, impl_->timeout(), std::move(stop)).messages;
}

Outcome Client::Acknowledge(const Delivery& delivery) {
  return impl_->Settle(Disposition::kDone, {&delivery, 1}).front();
}

std::vector<Outcome> Client::Acknowledge(std::span<const Delivery> deliveries) {
  return impl_->Settle(Disposition::kDone, deliveries);
}

Outcome Client::Abandon(const Delivery& delivery, std::string_view error,
                        std::optional<Milliseconds> retry_after) {
  return impl_->Settle(Disposition::kRetry,
                       {delivery.id, delivery.fence, std::string(error), retry_after});
}

Outcome Client::Fail(const Delivery& delivery, std::string_view error) {
  return impl_->Settle(Disposition::kDead, {delivery.id, delivery.fence, std::string(error), {}});
}

std::vector<Outcome> Client::GiveBack(std::span<const Delivery> deliveries) {
  return impl_->Settle(Disposition::kUntouched, deliveries);
}

std::vector<Outcome> Client::Extend(std::span<const Delivery> deliveries,
                                    std::optional<Milliseconds> lease) {
  return impl_->Settle(Disposition::kExtend, deliveries, lease);
}

std::unique_ptr<Client> Open(std::string_view url, const ClientOptions& options) {
  return std::make_unique<Client>(url, options);
}

}  // namespace tenure::messages
