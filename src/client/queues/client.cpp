#include "tenure/queues/client.hpp"

#include <stdexcept>
#include <utility>

#include "base/host.hpp"
#include "client/queues/backend.hpp"

namespace tenure::client {

std::string ConsumerName(const std::string& name) {
  return name.empty() ? base::HostAndPid() : name;
}

}  // namespace tenure::client

namespace tenure::queues {
namespace {

using client::SessionReport;
using Kind = SessionReport::Kind;

constexpr int kMost = 100;
constexpr Milliseconds kLongestWait{60'000};

void CheckAccept(const AcceptOptions& options) {
  if (options.max_sessions < 1 || options.max_sessions > kMost)
    throw std::invalid_argument("max_sessions must be 1 to 100");
  if (options.max_messages < 1 || options.max_messages > kMost)
    throw std::invalid_argument("max_messages must be 1 to 100");
  if (options.wait < Milliseconds(0) || options.wait > kLongestWait)
    throw std::invalid_argument("wait must be at most 60 s");
}

/// What came next belongs to the session that was spoken of.
Reported Of(const Held& held, Reported reported) {
  for (Delivery& each : reported.messages) {
    each.session = held.session;
    each.key = held.key;
    each.name = held.name;
    each.fence = held.fence;
  }
  return reported;
}

}  // namespace

class Client::Impl {
 public:
  Impl(std::string_view url, const std::string& queue, const ClientOptions& options)
      : timeout_(options.timeout), backend_(client::OpenQueue(url, queue, options)) {}

  client::QueueBackend& backend() { return *backend_; }
  Milliseconds timeout() const { return timeout_; }
  Reported Report(Kind kind, const Held& held, SessionReport report) {
    report.session = held.session;
    report.fence = held.fence;
    return Of(held, backend_->Report(kind, report, timeout_));
  }

 private:
  const Milliseconds timeout_;
  const std::unique_ptr<client::QueueBackend> backend_;
};

Client::Client(std::string_view url, std::string queue, const ClientOptions& options)
    : impl_(std::make_unique<Impl>(url, queue, options)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Sent Client::Send(const SessionMessage& message) { return Send(std::span(&message, 1)).front(); }
std::vector<Sent> Client::Send(std::span<const SessionMessage> messages) {
  return impl_->backend().Send(messages, impl_->timeout());
}

std::vector<Held> Client::Accept(const AcceptOptions& options, std::stop_token stop) {
  CheckAccept(options);
  return impl_->backend().Accept({.consumer = client::ConsumerName(options.consumer),
                                  .max_sessions = options.max_sessions,
                                  .max_messages = options.max_messages,
                                  .wait = options.wait,
                                  .lease = options.lease,
                                  .key = options.key},
                                 impl_->timeout(), std::move(stop));
}

Reported Client::Complete(const Held& held, std::int64_t sequence, std::optional<std::string> state,
                          int max_messages) {
  SessionReport report;
  report.sequence = sequence;
  report.state = std::move(state);
  report.max_messages = max_messages;
  return impl_->Report(Kind::kComplete, held, std::move(report));
}

Reported Client::Abandon(const Held& held, std::int64_t sequence, std::string_view error,
                         std::optional<Milliseconds> retry_after) {
  SessionReport report;
  report.sequence = sequence;
  report.error = error;
  report.retry_after = retry_after;
  return impl_->Report(Kind::kAbandon, held, std::move(report));
}

Reported Client::DeadLetter(const Held& held, std::int64_t sequence, std::string_view error) {
  SessionReport report;
  report.sequence = sequence;
  report.error = error;
  return impl_->Report(Kind::kDeadLetter, held, std::move(report));
}

Reported Client::Release(const Held& held) { return impl_->Report(Kind::kRelease, held, {}); }

Reported Client::Transfer(const Held& held, std::string_view to, Milliseconds time) {
  SessionReport report;
  report.to = to;
  report.time = time;
  return impl_->Report(Kind::kTransfer, held, std::move(report));
}

std::vector<bool> Client::Renew(std::span<const Held> held) {
  std::vector<client::HeldFence> fences;
  for (const Held& each : held) fences.push_back({each.session, each.fence});
  return impl_->backend().Renew(fences, {}, impl_->timeout());
}

}  // namespace tenure::queues
