#include "couriers/http_courier.hpp"

#include <mutex>
#include <utility>

#include "base/base64.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/json_writer.hpp"
#include "base/uuid.hpp"
#include "couriers/checks.hpp"
#include "couriers/http_answers.hpp"
#include "http/client.hpp"

namespace tenure::couriers {
namespace {

using base::JsonWriter;

/// How often a claim whose answer was lost is asked for again.
constexpr int kClaimTries = 3;

/// Connections that are not in use. A call takes one, or makes one.
class Clients {
 public:
  explicit Clients(http::ClientOptions options) : options_(std::move(options)) {}

  std::unique_ptr<http::Client> Take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<http::Client>(options_);
    auto client = std::move(idle_.back());
    idle_.pop_back();
    return client;
  }
  void Return(std::unique_ptr<http::Client> client) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMaxIdle) idle_.push_back(std::move(client));
  }

 private:
  static constexpr std::size_t kMaxIdle = 8;
  const http::ClientOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<http::Client>> idle_;  // guarded by mutex_
};

http::ClientOptions OptionsOf(const providers::ServerAddress& address) {
  return {.base_url = address.base_url, .token = address.token, .ca_file = address.ca_file};
}

void WriteMessage(JsonWriter& json, const Message& message) {
  json.BeginObject().Field("topic", std::string_view(message.topic));
  if (message.is_bytes)
    json.Field("payload_base64", std::string_view(base::EncodeBase64(message.payload)));
  else
    json.Key("payload").Raw(message.payload);
  if (message.due_at_ms) json.Key("due_at").Time(*message.due_at_ms);
  if (message.delay) json.Field("delay_ms", message.delay->count());
  json.Field("priority", message.priority);
  if (!message.correlation_id.empty())
    json.Field("correlation_id", std::string_view(message.correlation_id));
  const std::string headers = HeadersWithTrace(message);
  if (!headers.empty()) json.Key("headers").Raw(headers);
  if (!message.dedup_key.empty()) json.Field("dedup_key", std::string_view(message.dedup_key));
  json.EndObject();
}

std::string_view PathOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::kDone:
      return "/api/v1/messages/ack";
    case Verdict::kRetry:
    case Verdict::kUntouched:
      return "/api/v1/messages/abandon";
    case Verdict::kDead:
      return "/api/v1/messages/fail";
    case Verdict::kExtend:
      break;
  }
  return "/api/v1/messages/extend";
}

class HttpCourier final : public Courier {
 public:
  HttpCourier(const providers::ServerAddress& address, Milliseconds lease)
      : clients_(OptionsOf(address)), renewing_(OptionsOf(address)), lease_(lease) {}

  std::vector<Enqueued> Enqueue(std::span<const Message> messages, Milliseconds timeout) override {
    CheckMessages(messages);
    if (messages.empty()) return {};
    std::string body;
    JsonWriter json(body);
    json.BeginObject().Key("messages").BeginArray();
    for (const Message& each : messages) WriteMessage(json, each);
    json.EndArray().EndObject();
    return ReadEnqueued(Post(clients_, "/api/v1/messages", body, timeout), messages.size());
  }

  /// A claim whose answer is lost is asked for again under the same id, and answered with the same
  /// messages: they would count a crash if nobody reported on them.
  Claimed Claim(const Wish& wish, Milliseconds timeout, std::stop_token stop) override {
    CheckWish(wish);
    const std::string claim = base::Uuid::V7(base::SystemClock().WallMs()).ToString();
    for (int tried = 1;; ++tried) {
      // Who stops, or asks again, does not wait for more.
      const Milliseconds wait = stop.stop_requested() || tried > 1 ? Milliseconds(0) : wish.wait;
      try {
        return {claim, ReadClaimed(SendClaim(ClaimBody(wish, claim, wait), wait + timeout,
                                             tried == 1 ? stop : std::stop_token()))};
      } catch (const Unavailable& error) {
        if (!error.outcome_unknown() || tried == kClaimTries) throw;
      }
    }
  }

  std::vector<Outcome> Report(Verdict verdict, std::span<const couriers::Report> reports,
                              std::optional<Milliseconds> lease, Milliseconds timeout) override {
    return ReportBy(clients_, verdict, reports, lease, timeout);
  }

  std::int64_t Join(const std::string&, Milliseconds) override { return 1; }
  Renewed Renew(std::int64_t, std::span<const HeldMessage> held, Milliseconds timeout) override {
    std::vector<couriers::Report> reports;
    for (const HeldMessage& each : held) reports.push_back({each.id, each.fence, {}, {}});
    const auto outcomes = ReportBy(renewing_, Verdict::kExtend, reports, lease_, timeout);
    Renewed renewed;
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (outcomes[i] != Outcome::kDone) renewed.lost.push_back(reports[i].id);
    return renewed;
  }
  void Leave(std::span<const std::int64_t>, Milliseconds) override {}
  void Started(const std::string&, std::int64_t, Milliseconds) override {}

  bool beats() const override { return false; }
  Milliseconds hold_time() const override { return lease_; }
  Milliseconds renew_every() const override { return lease_ / 3; }

 private:
  static std::string ClaimBody(const Wish& wish, const std::string& claim, Milliseconds wait) {
    std::string body;
    JsonWriter json(body);
    json.BeginObject().Key("topics").BeginArray();
    for (const std::string& topic : wish.topics) json.Value(std::string_view(topic));
    json.EndArray()
        .Field("max", wish.max)
        .Field("wait_ms", wait.count())
        .Field("owner", std::string_view(wish.owner))
        .Field("claim_id", std::string_view(claim));
    if (wish.lease) json.Field("lease_ms", wish.lease->count());
    json.EndObject();
    return body;
  }

  http::ClientResponse SendClaim(const std::string& body, Milliseconds timeout,
                                 const std::stop_token& stop) {
    auto client = clients_.Take();
    http::ClientResponse response;
    {
      const std::stop_callback cancel(stop, [&] { client->Cancel(); });
      response = Send(*client, "/api/v1/messages/claim", body, timeout);
    }
    // One that was cancelled is of no use any more.
    if (!stop.stop_requested()) clients_.Return(std::move(client));
    return response;
  }

  static std::vector<Outcome> ReportBy(Clients& clients, Verdict verdict,
                                       std::span<const couriers::Report> reports,
                                       std::optional<Milliseconds> lease, Milliseconds timeout) {
    if (reports.empty()) return {};
    std::string body;
    JsonWriter json(body);
    json.BeginObject();
    if (lease) json.Field("lease_ms", lease->count());
    json.Key("claims").BeginArray();
    for (const couriers::Report& each : reports) {
      json.BeginObject().Field("id", std::string_view(each.id)).Field("fence", each.fence);
      if (verdict == Verdict::kUntouched) json.Field("started", false);
      if (verdict == Verdict::kRetry || verdict == Verdict::kDead)
        json.Field("error", std::string_view(StorableError(each.error)));
      if (each.retry_after) json.Field("retry_after_ms", each.retry_after->count());
      json.EndObject();
    }
    json.EndArray().EndObject();
    return ReadOutcomes(Post(clients, PathOf(verdict), body, timeout), reports);
  }

  static http::ClientResponse Post(Clients& clients, std::string_view path, const std::string& body,
                                   Milliseconds timeout) {
    auto client = clients.Take();
    auto response = Send(*client, path, body, timeout);
    clients.Return(std::move(client));
    return response;
  }
  static http::ClientResponse Send(http::Client& client, std::string_view path,
                                   const std::string& body, Milliseconds timeout) {
    try {
      return client.Send(http::Method::kPost, path, body, {}, timeout.count());
    } catch (const base::Fault& fault) {
      throw Unavailable(fault.what(), fault.outcome_unknown());
    }
  }

  Clients clients_;
  Clients renewing_;  // for Renew alone
  const Milliseconds lease_;
};

}  // namespace

std::unique_ptr<Courier> OpenHttp(const providers::ServerAddress& address, Milliseconds lease) {
  return std::make_unique<HttpCourier>(address, lease);
}

}  // namespace tenure::couriers
