#include <map>
#include <set>
#include <utility>

#include "base/base64.hpp"
#include "base/clock.hpp"
#include "base/json_writer.hpp"
#include "base/time_text.hpp"
#include "base/uuid.hpp"
#include "client/backends.hpp"
#include "client/checks.hpp"
#include "client/failure.hpp"
#include "client/http/answer.hpp"
#include "client/http/transport.hpp"

namespace tenure::client {
namespace {

using base::JsonWriter;

/// How often a claim whose answer was lost is asked for again.
constexpr int kClaimTries = 3;
/// How much of errors one request carries: well below what a server takes (http.max_body), also
/// when each byte is escaped.
constexpr std::size_t kMaxErrorsBytes = 64 << 10;

// What the server answered, read into the library's types. Throws CallFailed.

std::string TextOf(json::value value) { return std::string(std::string_view(value.get_string())); }
std::string RawOf(json::value value) {
  return std::string(std::string_view(simdjson::to_json_string(value)));
}
std::int64_t TimeOf(json::value value) {
  return value.is_null() ? 0 : base::ParseUtcMs(std::string_view(value.get_string())).value_or(0);
}

/// In one pass: a payload may be large.
Delivery DeliveryOf(json::object object) {
  Delivery delivery;
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    json::value value = field.value();
    if (key == "id") delivery.id = TextOf(value);
    if (key == "fence") delivery.fence = value.get_int64();
    if (key == "topic") delivery.topic = TextOf(value);
    if (key == "payload") delivery.payload = RawOf(value);
    if (key == "payload_base64") {
      delivery.is_bytes = true;
      delivery.payload = base::DecodeBase64(std::string_view(value.get_string())).value_or("");
    }
    if (key == "priority") delivery.priority = static_cast<int>(value.get_int64().value());
    if (key == "attempt") delivery.attempt = value.get_int64();
    if (key == "crashes") delivery.crashes = value.get_int64();
    if (key == "enqueued_at") delivery.enqueued_ms = TimeOf(value);
    if (key == "due_at") delivery.due_ms = TimeOf(value);
    if (key == "lease_expires_at") delivery.lease_until_ms = TimeOf(value);
    if (key == "correlation_id") delivery.correlation_id = TextOf(value);
    if (key == "headers") delivery.headers = RawOf(value);
    if (key == "traceparent") delivery.traceparent = TextOf(value);
  }
  return delivery;
}

std::vector<Enqueued> ReadEnqueued(const http::ClientResponse& response, std::size_t count) {
  return Reading(response, {200, 201}, [&](json::object root) {
    std::vector<Enqueued> enqueued;
    std::set<std::string> duplicates;
    for (auto field : root) {
      const std::string_view key = field.unescaped_key();
      if (key == "ids")
        for (auto id : field.value().get_array()) enqueued.push_back({TextOf(id.value()), false});
      if (key == "duplicates")
        for (auto id : field.value().get_array()) duplicates.insert(TextOf(id.value()));
    }
    if (enqueued.size() != count) RefuseUnreadable(response, "not an id for each message");
    for (Enqueued& each : enqueued) each.duplicate = duplicates.contains(each.id);
    return enqueued;
  });
}

std::vector<Delivery> ReadClaimed(const http::ClientResponse& response) {
  return Reading(response, {200}, [](json::object root) {
    std::vector<Delivery> deliveries;
    for (auto message : root["messages"].get_array())
      deliveries.push_back(DeliveryOf(message.get_object()));
    return deliveries;
  });
}

/// Per settlement, in their order.
std::vector<Outcome> ReadOutcomes(const http::ClientResponse& response,
                                  std::span<const Settlement> settlements) {
  return Reading(response, {200}, [&](json::object root) {
    std::map<std::string, Outcome> told;
    for (auto field : root) {
      const std::string_view key = field.unescaped_key();
      const Outcome outcome = key == "done"    ? Outcome::kDone
                              : key == "stale" ? Outcome::kStale
                                               : Outcome::kGone;
      for (auto id : field.value().get_array()) told.emplace(TextOf(id.value()), outcome);
    }
    std::vector<Outcome> outcomes;
    for (const Settlement& each : settlements) {
      const auto found = told.find(each.id);
      if (found == told.end()) RefuseUnreadable(response, "not an outcome for each message");
      outcomes.push_back(found->second);
    }
    return outcomes;
  });
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

void WriteSettlement(JsonWriter& json, Disposition disposition, const Settlement& settlement) {
  json.BeginObject().Field("id", std::string_view(settlement.id)).Field("fence", settlement.fence);
  if (disposition == Disposition::kUntouched) json.Field("started", false);
  if (disposition == Disposition::kRetry || disposition == Disposition::kDead)
    json.Field("error",
               std::string_view(StorableError(settlement.error, messages::kMaxErrorBytes)));
  if (settlement.retry_after) json.Field("retry_after_ms", settlement.retry_after->count());
  json.EndObject();
}

std::string ClaimBody(const MessageClaim& claim, const std::string& id, Milliseconds wait) {
  return JsonBody([&](JsonWriter& json) {
    json.Key("topics").BeginArray();
    for (const std::string& topic : claim.topics) json.Value(std::string_view(topic));
    json.EndArray()
        .Field("max", claim.max)
        .Field("wait_ms", wait.count())
        .Field("owner", std::string_view(claim.owner))
        .Field("claim_id", std::string_view(id));
    if (claim.lease) json.Field("lease_ms", claim.lease->count());
  });
}

std::string_view PathOf(Disposition disposition) {
  switch (disposition) {
    case Disposition::kDone:
      return "/api/v1/messages/ack";
    case Disposition::kRetry:
    case Disposition::kUntouched:
      return "/api/v1/messages/abandon";
    case Disposition::kDead:
      return "/api/v1/messages/fail";
    case Disposition::kExtend:
      break;
  }
  return "/api/v1/messages/extend";
}

/// As many of the first as one request may carry; at least one.
std::span<const Settlement> FirstOf(std::span<const Settlement> settlements) {
  std::size_t bytes = 0;
  std::size_t count = 0;
  while (count < settlements.size() && bytes <= kMaxErrorsBytes)
    bytes += settlements[count++].error.size();
  return settlements.first(count);
}

class HttpBackend final : public MessageBackend {
 public:
  HttpBackend(const ServerAddress& address, Milliseconds lease)
      : transport_(address), renewing_(address), lease_(lease) {}

  std::vector<Enqueued> Enqueue(std::span<const Message> messages, Milliseconds timeout) override {
    CheckMessages(messages);
    if (messages.empty()) return {};
    const std::string body = JsonBody([&](JsonWriter& json) {
      json.Key("messages").BeginArray();
      for (const Message& each : messages) WriteMessage(json, each);
      json.EndArray();
    });
    return MessageCall([&] {
      return ReadEnqueued(transport_.Post("/api/v1/messages", body, timeout), messages.size());
    });
  }

  /// A claim whose answer is lost is asked for again under the same id, and answered with the same
  /// messages: they would count a crash if nobody settled them.
  ClaimedMessages Claim(const MessageClaim& claim, Milliseconds timeout,
                        std::stop_token stop) override {
    CheckClaim(claim);
    const std::string id = base::Uuid::V7(base::SystemClock().WallMs()).ToString();
    for (int tried = 1;; ++tried) {
      // Who stops, or asks again, does not wait for more.
      const Milliseconds wait = stop.stop_requested() || tried > 1 ? Milliseconds(0) : claim.wait;
      try {
        return MessageCall([&]() -> ClaimedMessages {
          return {id, ReadClaimed(transport_.Post("/api/v1/messages/claim",
                                                  ClaimBody(claim, id, wait), wait + timeout,
                                                  tried == 1 ? stop : std::stop_token()))};
        });
      } catch (const messages::Unavailable& error) {
        if (!error.outcome_unknown() && stop.stop_requested()) return {};  // it was not even sent
        if (!error.outcome_unknown() || tried == kClaimTries) throw;
      }
    }
  }

  std::vector<Outcome> Settle(Disposition disposition, std::span<const Settlement> settlements,
                              std::optional<Milliseconds> lease, Milliseconds timeout) override {
    return SettleBy(transport_, disposition, settlements, lease, timeout);
  }

  std::int64_t Join(const std::string&, Milliseconds) override { return 1; }
  RenewedHolds Renew(std::int64_t, std::span<const HeldMessage> held,
                     Milliseconds timeout) override {
    std::vector<Settlement> settlements;
    for (const HeldMessage& each : held) settlements.push_back({each.id, each.fence, {}, {}});
    const auto outcomes = SettleBy(renewing_, Disposition::kExtend, settlements, lease_, timeout);
    RenewedHolds renewed;
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (outcomes[i] != Outcome::kDone) renewed.lost.push_back(settlements[i].id);
    return renewed;
  }
  void Leave(std::int64_t, Milliseconds) override {}
  void Started(const std::string&, std::int64_t, Milliseconds) override {}

  bool beats() const override { return false; }
  Milliseconds hold_time() const override { return lease_; }
  Milliseconds renew_every() const override { return lease_ / 3; }

 private:
  static std::vector<Outcome> SettleBy(Transport& transport, Disposition disposition,
                                       std::span<const Settlement> settlements,
                                       std::optional<Milliseconds> lease, Milliseconds timeout) {
    CheckSettlements(settlements, lease);
    std::vector<Outcome> outcomes;
    while (!settlements.empty()) {
      const auto some = FirstOf(settlements);
      settlements = settlements.subspan(some.size());
      const std::string body = JsonBody([&](JsonWriter& json) {
        if (lease) json.Field("lease_ms", lease->count());
        json.Key("claims").BeginArray();
        for (const Settlement& each : some) WriteSettlement(json, disposition, each);
        json.EndArray();
      });
      try {
        const auto told = MessageCall(
            [&] { return ReadOutcomes(transport.Post(PathOf(disposition), body, timeout), some); });
        outcomes.insert(outcomes.end(), told.begin(), told.end());
      } catch (const messages::Unavailable& error) {
        // What was told before it has happened.
        throw messages::Unavailable(error.what(), error.outcome_unknown() || !outcomes.empty());
      }
    }
    return outcomes;
  }

  Transport transport_;
  Transport renewing_;  // for Renew alone
  const Milliseconds lease_;
};

}  // namespace

std::unique_ptr<MessageBackend> MakeHttpBackend(const ServerAddress& address, Milliseconds lease) {
  return std::make_unique<HttpBackend>(address, lease);
}

}  // namespace tenure::client
