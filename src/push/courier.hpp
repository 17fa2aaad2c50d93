#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http/outgoing.hpp"
#include "push/parcel.hpp"
#include "push/resolver.hpp"
#include "push/subscription.hpp"
#include "telemetry/trace.hpp"

namespace tenure::push {

/// All that is needed to send something to a subscription's endpoint; constant.
struct Endpoint {
  SubscriptionKey key{};
  base::Uuid id{};
  std::int64_t revision = 0;
  std::string topic{};
  std::string url{};
  Format format = Format::kBinary;
  std::int64_t timeout_ms = kDefaultTimeoutMs;
  std::int64_t max_in_flight = kDefaultInFlight;
  std::vector<ActiveSecret> secrets{};
  HeaderValues headers{};
  std::uint64_t group = 0;  ///< of its requests (Outgoing::GiveUp)
  bool has_answered =
      false;  ///< the last time: its requests go before those of endpoints that hang

  /// Empty: it is of a topic.
  std::string_view queue() const { return QueueOf(topic); }
};
/// Nothing when its secrets cannot be opened.
std::shared_ptr<const Endpoint> EndpointOf(const Subscription& subscription, const Vault& vault,
                                           std::int64_t now_ms, std::uint64_t group);

/// What came of a request.
struct Delivered {
  http::OutgoingReply reply{};
  std::int64_t took_ms = 0;
};

/// Makes requests of messages and sends them: judges the address anew each time, signs, encodes. It has
/// no thread and waits for nothing.
class Courier {
 public:
  using Done = base::UniqueFunction<Delivered>;

  struct Options {
    std::vector<AllowedHost> allowed{};
    std::size_t in_flight_max = 10'000;
    std::string ca_file{};
    Resolver::LookUpFunction look_up = LookUp;
  };
  Courier(Options options, telemetry::Tracer& tracer, const base::Clock& clock);

  void Start() { outgoing_.Start(); }
  void Stop();

  /// `may_begin` is asked once more just before the request leaves.
  void Deliver(const Endpoint& endpoint, const Parcel& message, std::function<bool()> may_begin,
               Done done);
  /// `tenure.ping`: what the endpoint answers to something that is no message.
  void Ping(const Endpoint& endpoint, Done done);
  void GiveUp(std::uint64_t group) { outgoing_.GiveUp(group); }

  const std::vector<AllowedHost>& allowed() const { return options_.allowed; }

 private:
  struct Errand;
  void Send(const Endpoint& endpoint, const Event& event, const std::shared_ptr<Errand>& errand);
  void Found(const std::shared_ptr<Errand>& errand, const Resolved& resolved);

  const Options options_;
  telemetry::Tracer& tracer_;
  const base::Clock& clock_;
  http::Outgoing outgoing_;
  Resolver resolver_;
};

}  // namespace tenure::push
