#include "push/courier.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "push/signature.hpp"

namespace tenure::push {
namespace {

constexpr std::size_t kAnswerMax = 64 << 10;
constexpr std::size_t kWaitingItems = 20'000;
constexpr std::size_t kWaitingBytes = 256 << 20;

http::OutgoingOptions OutgoingOf(const Courier::Options& options) {
  return {.in_flight_max = options.in_flight_max,
          .queue_items = kWaitingItems,
          .queue_bytes = kWaitingBytes,
          .ca_file = options.ca_file,
          .keep_system_authorities = true};
}

std::string AuthorityOf(const HostAddress& address, std::uint16_t port) {
  return address.is_v4 ? fmt::format("{}:{}", address.ToString(), port)
                       : fmt::format("[{}]:{}", address.ToString(), port);
}

/// One of those of the family that the system prefers: another each second, so that a retry does not
/// meet the same dead one for ever.
const HostAddress& ChosenOf(const std::vector<HostAddress>& addresses, const base::Clock& clock) {
  const auto count = static_cast<std::size_t>(
      std::ranges::count(addresses, addresses.front().is_v4, &HostAddress::is_v4));
  const std::size_t nth = static_cast<std::size_t>(clock.BootMs() / 1'000) % count;
  std::size_t seen = 0;
  for (const HostAddress& address : addresses)
    if (address.is_v4 == addresses.front().is_v4 && seen++ == nth) return address;
  return addresses.front();
}

}  // namespace

std::shared_ptr<const Endpoint> EndpointOf(const Subscription& subscription, const Vault& vault,
                                           std::int64_t now_ms, std::uint64_t group) {
  auto endpoint = std::make_shared<Endpoint>();
  endpoint->key = {subscription.tenant, subscription.name};
  endpoint->id = subscription.id;
  endpoint->revision = subscription.revision;
  endpoint->topic = subscription.topic;
  endpoint->url = subscription.url;
  endpoint->format = subscription.format;
  endpoint->timeout_ms = std::clamp(subscription.timeout_ms, kLeastTimeoutMs, kMostTimeoutMs);
  endpoint->max_in_flight = std::clamp<std::int64_t>(subscription.max_in_flight, 1, kMostInFlight);
  endpoint->secrets = OpenSecrets(vault, subscription.id, subscription.secrets, now_ms);
  auto headers = OpenHeaders(vault, subscription.id, subscription.headers);
  if (endpoint->secrets.empty() || !headers) return nullptr;
  endpoint->headers = *std::move(headers);
  endpoint->group = group;
  return endpoint;
}

/// A request on its way to its address.
struct Courier::Errand {
  http::OutgoingRequest request{};
  Target target{};
  std::int64_t began_ms = 0;  // boot time
  telemetry::Span span;
  Done done;

  void End(const base::Clock& clock, http::OutgoingReply reply) {
    span.Set("http.response.status_code", reply.status);
    if (!reply.acknowledged()) span.Fail();
    span.End();
    done({std::move(reply), clock.BootMs() - began_ms});
  }
};

Courier::Courier(Options options, telemetry::Tracer& tracer, const base::Clock& clock)
    : options_(std::move(options)),
      tracer_(tracer),
      clock_(clock),
      outgoing_(OutgoingOf(options_)),
      resolver_(options_.look_up) {}

void Courier::Stop() {
  resolver_.Stop();
  outgoing_.Stop();
}

void Courier::Deliver(const Endpoint& endpoint, const Parcel& message,
                      std::function<bool()> may_begin, Done done) {
  // A user's SQL may have stored anything as the trace; what is none must not spoil the request.
  const auto parent = telemetry::ParseTraceParent(message.trace);
  telemetry::Span span = tracer_.Start("push.deliver", parent, telemetry::SpanKind::kClient);
  span.Set("messaging.message.id", message.id.ToString());
  span.Set("push.subscription", endpoint.key.name);
  const auto context = span.context();
  const std::string trace = context  ? telemetry::FormatTraceParent(*context)
                            : parent ? message.trace
                                     : "";
  const std::string id = message.id.ToString();
  const Turn* const turn = message.turn ? &*message.turn : nullptr;
  std::string type = turn && !turn->event_type.empty() ? turn->event_type : TypeOf(message.headers);
  if (turn && type.empty()) type = turn->queue;
  const auto errand = std::make_shared<Errand>(
      Errand{.began_ms = clock_.BootMs(), .span = std::move(span), .done = std::move(done)});
  errand->request.may_begin = std::move(may_begin);
  Send(endpoint,
       {.id = id,
        .tenant = endpoint.key.tenant,
        .topic = message.topic,
        .type = type,
        .time_ms = message.enqueued_ms,
        .trace_parent = trace,
        .kind = message.kind,
        .payload = message.payload,
        .turn = turn},
       errand);
}

void Courier::Ping(const Endpoint& endpoint, Done done) {
  const std::string id = base::Uuid::V7(clock_.WallMs()).ToString();
  Event event;
  event.id = id;
  event.tenant = endpoint.key.tenant;
  event.topic = endpoint.topic;
  event.type = "tenure.ping";
  event.time_ms = clock_.WallMs();
  event.payload = "{}";
  const auto errand = std::make_shared<Errand>();
  errand->began_ms = clock_.BootMs();
  errand->done = std::move(done);
  Send(endpoint, event, errand);
}

void Courier::Send(const Endpoint& endpoint, const Event& event,
                   const std::shared_ptr<Errand>& errand) {
  const auto parsed = ParseTarget(endpoint.url);
  if (const auto* problem = std::get_if<std::string>(&parsed))
    return errand->End(clock_, {.error = "the url " + *problem});
  errand->target = std::get<Target>(parsed);
  // The clock of those who verify, which is not the store's.
  const std::int64_t now_ms = clock_.WallMs();
  EncodedEvent encoded = Encode(event, endpoint.format);
  std::vector<std::string> secrets;
  for (const ActiveSecret& secret : endpoint.secrets)
    if (secret.until_ms == 0 || now_ms < secret.until_ms) secrets.push_back(secret.text);
  const std::int64_t timestamp_s = now_ms / 1'000;
  http::OutgoingRequest& request = errand->request;
  request.url = endpoint.url;
  request.headers = std::move(encoded.headers);
  request.headers.emplace_back("webhook-id", event.id);
  request.headers.emplace_back("webhook-timestamp", std::to_string(timestamp_s));
  request.headers.emplace_back("webhook-signature",
                               Signatures({event.id, timestamp_s, encoded.body}, secrets));
  for (const auto& header : endpoint.headers) request.headers.push_back(header);
  request.body = std::move(encoded.body);
  request.timeout_ms = endpoint.timeout_ms;
  request.answer_max = kAnswerMax;
  request.status_decides = true;
  request.group = endpoint.group;
  request.goes_first = endpoint.has_answered;
  if (errand->target.address) return Found(errand, {{*errand->target.address}, {}});
  resolver_.Find(errand->target.host, endpoint.timeout_ms,
                 [this, errand](const Resolved& resolved) { Found(errand, resolved); });
}

void Courier::Found(const std::shared_ptr<Errand>& errand, const Resolved& resolved) {
  if (!resolved.error.empty())
    return errand->End(clock_, {.error = "its host cannot be looked up: " + resolved.error});
  const Allowance allowance = AllowanceOf(options_.allowed, errand->target.host);
  const auto own = allowance == Allowance::kPublic ? OwnAddresses() : std::vector<HostAddress>();
  if (auto problem = AddressesProblem(resolved.addresses, own, allowance))
    return errand->End(clock_, {.error = *std::move(problem)});
  const std::int64_t passed_ms = clock_.BootMs() - errand->began_ms;
  if (passed_ms >= errand->request.timeout_ms)
    return errand->End(clock_, {.error = "its host was not looked up in time"});
  errand->request.timeout_ms -= passed_ms;
  errand->request.connect_to =
      AuthorityOf(ChosenOf(resolved.addresses, clock_), errand->target.port);
  outgoing_.Send(std::move(errand->request), [this, errand](http::OutgoingReply reply) {
    errand->End(clock_, std::move(reply));
  });
}

}  // namespace tenure::push
