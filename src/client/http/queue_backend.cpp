#include <algorithm>
#include <array>
#include <tuple>
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
using ReportKind = SessionReport::Kind;

/// How often an accept whose answer was lost is asked for again.
constexpr int kAcceptTries = 3;

std::string WordOf(json::value value) { return std::string(std::string_view(value.get_string())); }
std::string JsonOf(json::value value) {
  return std::string(std::string_view(simdjson::to_json_string(value)));
}
std::int64_t MomentOf(json::value value) {
  return value.is_null() ? 0 : base::ParseUtcMs(std::string_view(value.get_string())).value_or(0);
}

/// What is said of an event, as an object of its own.
bool IsOfEvent(std::string_view key) {
  constexpr std::array<std::string_view, 10> kKeys{
      "event_id", "event_type",   "action",      "repository", "entity",
      "sender",   "organization", "received_at", "properties", "installation_id"};
  return std::ranges::find(kKeys, key) != kKeys.end();
}

/// In one pass: a payload may be large.
queues::Delivery DeliveryFrom(json::object object) {
  queues::Delivery delivery;
  JsonWriter event(delivery.event);
  event.BeginObject();
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    json::value value = field.value();
    if (key == "id") delivery.id = WordOf(value);
    if (key == "sequence") delivery.sequence = value.get_int64();
    if (key == "attempt") delivery.attempt = value.get_int64();
    if (key == "payload" && !value.is_null()) delivery.payload = JsonOf(value);
    if (key == "payload_base64") {
      delivery.is_bytes = true;
      delivery.payload = base::DecodeBase64(std::string_view(value.get_string())).value_or("");
    }
    if (key == "payload_url") delivery.payload_url = WordOf(value);
    if (key == "enqueued_at") delivery.enqueued_ms = MomentOf(value);
    if (key == "expires_at") delivery.expires_ms = MomentOf(value);
    if (key == "correlation_id") delivery.correlation_id = WordOf(value);
    if (key == "headers") delivery.headers = JsonOf(value);
    if (IsOfEvent(key)) event.Key(std::string(key)).Raw(JsonOf(value));
  }
  event.EndObject();
  if (delivery.event == "{}") delivery.event.clear();
  // JSON's null, which somebody sent, is a payload; that of a large event is elsewhere.
  if (delivery.payload.empty() && !delivery.is_bytes && delivery.payload_url.empty())
    delivery.payload = "null";
  return delivery;
}

std::vector<queues::Delivery> DeliveriesFrom(json::value messages) {
  std::vector<queues::Delivery> deliveries;
  for (auto message : messages.get_array())
    deliveries.push_back(DeliveryFrom(message.get_object()));
  return deliveries;
}

Held HeldFrom(json::object object) {
  Held held;
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    json::value value = field.value();
    if (key == "session") held.session = WordOf(value);
    if (key == "key") held.key = WordOf(value);
    if (key == "name") held.name = WordOf(value);
    if (key == "fence") held.fence = value.get_int64();
    if (key == "lease_expires_at") held.lease_until_ms = MomentOf(value);
    if (key == "depth") held.depth = value.get_int64();
    if (key == "state_base64" && !value.is_null())
      held.state = base::DecodeBase64(std::string_view(value.get_string()));
    if (key == "messages") held.messages = DeliveriesFrom(value);
  }
  for (queues::Delivery& each : held.messages) {
    each.session = held.session;
    each.key = held.key;
    each.name = held.name;
    each.fence = held.fence;
  }
  return held;
}

queues::Outcome OutcomeFrom(std::string_view word) {
  if (word == "done" || word == "held") return queues::Outcome::kDone;
  if (word == "gone") return queues::Outcome::kGone;
  if (word == "out_of_order") return queues::Outcome::kOutOfOrder;
  if (word == "contended") return queues::Outcome::kContended;
  return queues::Outcome::kStale;
}

Reported ReportedFrom(json::object object) {
  Reported reported;
  for (auto field : object) {
    const std::string_view key = field.unescaped_key();
    json::value value = field.value();
    if (key == "outcome") reported.outcome = OutcomeFrom(std::string_view(value.get_string()));
    if (key == "held") reported.held = value.get_bool();
    if (key == "reason") reported.reason = WordOf(value);
    if (key == "messages") reported.messages = DeliveriesFrom(value);
  }
  return reported;
}

/// What a queue does not do, before anything else that a status may mean.
void RefuseQueue(const http::ClientResponse& response) {
  if (response.status != 404 && response.status != 409) return;
  const auto [type, detail, topic] = Reading(response, [](json::object problem) {
    std::string slug = ProblemOf(problem);
    std::string text = OptionalText(problem, "detail");
    return std::tuple(std::move(slug), std::move(text), OptionalText(problem, "topic"));
  });
  if (response.status == 404 || type == "queue-unordered" || type == "queue-draining")
    throw queues::QueueRefused(detail, topic);
}

void WriteSent(JsonWriter& json, const SessionMessage& message) {
  json.BeginObject().Field("session_key", std::string_view(message.session_key));
  if (message.is_bytes)
    json.Field("payload_base64", std::string_view(base::EncodeBase64(message.payload)));
  else
    json.Key("payload").Raw(message.payload);
  if (!message.correlation_id.empty())
    json.Field("correlation_id", std::string_view(message.correlation_id));
  if (!message.headers.empty()) json.Key("headers").Raw(message.headers);
  if (!message.dedup_key.empty()) json.Field("dedup_key", std::string_view(message.dedup_key));
  if (message.ttl) json.Field("ttl_ms", message.ttl->count());
  if (!message.share.empty()) json.Field("share", std::string_view(message.share));
  json.EndObject();
}

std::string_view PathOfReport(ReportKind kind) {
  switch (kind) {
    case ReportKind::kComplete:
      return "/complete";
    case ReportKind::kAbandon:
      return "/abandon";
    case ReportKind::kDeadLetter:
      return "/dead-letter";
    case ReportKind::kRelease:
      return "/release";
    case ReportKind::kTransfer:
      break;
  }
  return "/transfer";
}

std::string BodyOfReport(ReportKind kind, const SessionReport& report) {
  return JsonBody([&](JsonWriter& json) {
    if (kind == ReportKind::kTransfer)
      json.Field("to", std::string_view(report.to)).Field("for_ms", report.time.count());
    json.Key("sessions").BeginArray().BeginObject();
    json.Field("session", std::string_view(report.session)).Field("fence", report.fence);
    const bool names_message = kind == ReportKind::kComplete || kind == ReportKind::kAbandon ||
                               kind == ReportKind::kDeadLetter;
    if (names_message) json.Field("sequence", report.sequence);
    if (report.complete_through) json.Field("complete_through", *report.complete_through);
    if (report.state)
      json.Field("state_base64", std::string_view(base::EncodeBase64(*report.state)));
    if (kind == ReportKind::kComplete)
      json.Field("keep", report.keep).Field("max_messages", report.max_messages);
    if (kind == ReportKind::kAbandon || kind == ReportKind::kDeadLetter)
      json.Field("error", std::string_view(StorableError(report.error, messages::kMaxErrorBytes)));
    if (report.retry_after) json.Field("retry_after_ms", report.retry_after->count());
    json.EndObject().EndArray();
  });
}

class HttpQueue final : public QueueBackend {
 public:
  HttpQueue(const ServerAddress& address, const std::string& queue)
      : path_("/api/v1/queues/" + Encoded(queue)), transport_(address), renewing_(address) {}

  std::vector<queues::Sent> Send(std::span<const SessionMessage> messages,
                                 Milliseconds timeout) override {
    CheckSessionMessages(messages);
    if (messages.empty()) return {};
    const std::string body = JsonBody([&](JsonWriter& json) {
      json.Key("messages").BeginArray();
      for (const SessionMessage& each : messages) WriteSent(json, each);
      json.EndArray();
    });
    return QueueCall([&] {
      const auto response = transport_.Post(path_ + "/messages", body, timeout);
      RefuseQueue(response);
      return Reading(response, {200, 201}, [](json::object root) {
        std::vector<queues::Sent> sent;
        for (auto message : root["messages"].get_array()) {
          json::object object = message.get_object();
          queues::Sent& each = sent.emplace_back();
          each.id = Text(object, "id");
          each.session = Text(object, "session");
          each.sequence = Integer(object, "sequence");
          bool duplicate = false;
          each.duplicate = !object["duplicate"].get_bool().get(duplicate) && duplicate;
        }
        return sent;
      });
    });
  }

  /// One whose answer is lost is asked for again under the same id, and answered with the same
  /// holds: nobody else would work on them until their leases end.
  std::vector<Held> Accept(const SessionAccept& accept, Milliseconds timeout,
                           std::stop_token stop) override {
    const std::string id = base::Uuid::V7(base::SystemClock().WallMs()).ToString();
    for (int tried = 1;; ++tried) {
      const Milliseconds wait = stop.stop_requested() || tried > 1 ? Milliseconds(0) : accept.wait;
      try {
        return QueueCall([&] {
          return ReadAccepted(transport_.Post(path_ + "/accept", AcceptBody(accept, id, wait),
                                              wait + timeout,
                                              tried == 1 ? stop : std::stop_token()));
        });
      } catch (const queues::Unavailable& error) {
        if (!error.outcome_unknown() && stop.stop_requested()) return {};  // it was not even sent
        if (!error.outcome_unknown() || tried == kAcceptTries) throw;
      }
    }
  }

  Reported Report(ReportKind kind, const SessionReport& report, Milliseconds timeout) override {
    return QueueCall([&] {
      const auto response = transport_.Post(path_ + std::string(PathOfReport(kind)),
                                            BodyOfReport(kind, report), timeout);
      if (response.status == 404) return Reported{};  // the session is gone: the hold is over
      return Reading(response, {200}, [](json::object root) {
        Reported reported;
        for (auto session : root["sessions"].get_array())
          reported = ReportedFrom(session.get_object());
        return reported;
      });
    });
  }

  std::vector<bool> Renew(std::span<const HeldFence> held, std::optional<Milliseconds> lease,
                          Milliseconds timeout) override {
    if (held.empty()) return {};
    const std::string body = JsonBody([&](JsonWriter& json) {
      if (lease) json.Field("lease_ms", lease->count());
      json.Key("sessions").BeginArray();
      for (const HeldFence& each : held)
        json.BeginObject()
            .Field("session", std::string_view(each.session))
            .Field("fence", each.fence)
            .EndObject();
      json.EndArray();
    });
    return QueueCall([&] {
      const auto response = renewing_.Post(path_ + "/renew", body, timeout);
      if (response.status == 404) return std::vector<bool>(held.size(), false);
      return Reading(response, {200}, [&](json::object root) {
        std::vector<bool> renewed;
        for (auto session : root["sessions"].get_array())
          renewed.push_back(ReportedFrom(session.get_object()).outcome == queues::Outcome::kDone);
        if (renewed.size() != held.size())
          RefuseUnreadable(response, "not an answer for each session");
        return renewed;
      });
    });
  }

 private:
  static std::string AcceptBody(const SessionAccept& accept, const std::string& id,
                                Milliseconds wait) {
    return JsonBody([&](JsonWriter& json) {
      json.Field("consumer", std::string_view(accept.consumer))
          .Field("max_sessions", accept.key.empty() ? accept.max_sessions : 1)
          .Field("max_messages", accept.max_messages)
          .Field("wait_ms", wait.count())
          .Field("accept_id", std::string_view(id));
      if (accept.lease) json.Field("lease_ms", accept.lease->count());
      if (!accept.key.empty()) json.Field("key", std::string_view(accept.key));
    });
  }
  static std::vector<Held> ReadAccepted(const http::ClientResponse& response) {
    if (response.status == 409) {
      RefuseQueue(response);
      const std::string type =
          Reading(response, [](json::object problem) { return ProblemOf(problem); });
      if (type == "session-unavailable") return {};
    }
    RefuseQueue(response);
    return Reading(response, {200}, [](json::object root) {
      std::vector<Held> sessions;
      for (auto session : root["sessions"].get_array())
        sessions.push_back(HeldFrom(session.get_object()));
      return sessions;
    });
  }

  const std::string path_;
  Transport transport_;
  Transport renewing_;  // for Renew alone
};

}  // namespace

std::unique_ptr<QueueBackend> MakeHttpQueue(const ServerAddress& address,
                                            const std::string& queue) {
  return std::make_unique<HttpQueue>(address, queue);
}

}  // namespace tenure::client
