#include "tenure/messages/client.hpp"

#include "couriers/courier.hpp"

namespace tenure::messages {

using couriers::Verdict;

class Client::Impl {
 public:
  Impl(std::string_view url, const ClientOptions& options)
      : timeout_(options.timeout),
        courier_(
            couriers::OpenCourier(url, {.pooled = options.pooled, .ca_file = options.ca_file})) {}

  couriers::Courier& courier() { return *courier_; }
  Milliseconds timeout() const { return timeout_; }

  std::vector<Outcome> Report(Verdict verdict, std::span<const Delivery> deliveries,
                              std::optional<Milliseconds> lease = {}) {
    std::vector<couriers::Report> reports;
    for (const Delivery& each : deliveries) reports.push_back({each.id, each.fence, {}, {}});
    return courier_->Report(verdict, reports, lease, timeout_);
  }
  Outcome Report(Verdict verdict, const couriers::Report& report) {
    return courier_->Report(verdict, {&report, 1}, {}, timeout_).front();
  }

 private:
  const Milliseconds timeout_;
  const std::unique_ptr<couriers::Courier> courier_;
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
  return impl_->courier().Enqueue(messages, impl_->timeout());
}

std::vector<Delivery> Client::Claim(const ClaimOptions& options, std::stop_token stop) {
  couriers::Wish wish;
  wish.topics = options.topics;
  wish.max = options.max;
  wish.wait = options.wait;
  wish.lease = options.lease;
  wish.owner = options.owner.empty() ? couriers::DefaultOwner() : options.owner;
  return impl_->courier().Claim(wish, impl_->timeout(), std::move(stop)).messages;
}

Outcome Client::Acknowledge(const Delivery& delivery) {
  return impl_->Report(Verdict::kDone, {&delivery, 1}).front();
}

std::vector<Outcome> Client::Acknowledge(std::span<const Delivery> deliveries) {
  return impl_->Report(Verdict::kDone, deliveries);
}

Outcome Client::Abandon(const Delivery& delivery, std::string_view error,
                        std::optional<Milliseconds> retry_after) {
  return impl_->Report(Verdict::kRetry,
                       {delivery.id, delivery.fence, std::string(error), retry_after});
}

Outcome Client::Fail(const Delivery& delivery, std::string_view error) {
  return impl_->Report(Verdict::kDead, {delivery.id, delivery.fence, std::string(error), {}});
}

std::vector<Outcome> Client::GiveBack(std::span<const Delivery> deliveries) {
  return impl_->Report(Verdict::kUntouched, deliveries);
}

std::vector<Outcome> Client::Extend(std::span<const Delivery> deliveries,
                                    std::optional<Milliseconds> lease) {
  return impl_->Report(Verdict::kExtend, deliveries, lease);
}

std::unique_ptr<Client> Open(std::string_view url, const ClientOptions& options) {
  return std::make_unique<Client>(url, options);
}

}  // namespace tenure::messages
