#include "queues/http/json.hpp"

#include <algorithm>

#include "base/base64.hpp"
#include "base/json_writer.hpp"
#include "queues/explain.hpp"

namespace tenure::queues {
namespace {

using base::JsonWriter;

/// That of an event is stored once, for all bots: it is fetched by its address.
void WritePayload(JsonWriter& json, const Message& message) {
  if (message.event_id)
    json.Key("payload").Null().Field(
        "payload_url",
        std::string_view("/api/v1/webhooks/events/" + message.event_id->ToString() + "/payload"));
  else if (message.kind == PayloadKind::kBytes)
    json.Field("payload_base64", std::string_view(base::EncodeBase64(message.payload)));
  else
    json.Key("payload").Stored(message.payload);
}

void WriteMessage(JsonWriter& json, const Message& message, std::int64_t attempt) {
  json.BeginObject().Field("id", message.id).Field("sequence", message.sequence);
  json.Field("attempt", attempt).Key("enqueued_at").Time(message.enqueued_ms);
  json.Key("expires_at").TimeOrNull(message.expires_ms);
  if (message.replay_of) json.Field("replay_of", *message.replay_of);
  // Its members say the rest of a message that refers to an event.
  if (message.envelope.size() > 2) {
    json.Raw(std::string_view(message.envelope).substr(1, message.envelope.size() - 2));
    json.EndObject();
    return;
  }
  if (!message.copy.empty()) json.Field("copy", std::string_view(message.copy));
  if (message.event_id) json.Field("event_id", *message.event_id);
  if (!message.correlation_id.empty())
    json.Field("correlation_id", std::string_view(message.correlation_id));
  if (!message.headers.empty()) json.Key("headers").Stored(message.headers);
  WritePayload(json, message);
  json.EndObject();
}

/// The first may have been tried before; the others were not.
void WriteMessages(JsonWriter& json, const std::vector<Message>& messages, std::int64_t attempt) {
  json.Key("messages").BeginArray();
  for (std::size_t i = 0; i < messages.size(); ++i)
    WriteMessage(json, messages[i], i == 0 ? attempt : 1);
  json.EndArray();
}

void WriteState(JsonWriter& json, const std::optional<std::string>& state) {
  if (state)
    json.Field("state_base64", std::string_view(base::EncodeBase64(*state)));
  else
    json.Key("state_base64").Null();
}

void WriteSent(JsonWriter& json, const SentMessage& message) {
  json.BeginObject().Field("id", message.id).Field("session", message.session);
  json.Field("sequence", message.sequence);
  if (message.duplicate) json.Field("duplicate", true);
  json.EndObject();
}

/// Of a call that may leave the hold as it is.
void WriteHold(JsonWriter& json, const ReportOutcome& outcome) {
  json.Field("held", outcome.hold == Hold::kHeld);
  if (outcome.hold == Hold::kHeld)
    json.Key("lease_expires_at").Time(outcome.row.lease_until_ms);
  else
    json.Field("reason", ToText(outcome.hold));
  json.Field("depth", outcome.row.depth());
  WriteMessages(json, outcome.messages, outcome.row.attempts + 1);
}

}  // namespace

std::string_view ToText(Blocked blocked) {
  switch (blocked) {
    case Blocked::kNo:
      return "";
    case Blocked::kCap:
      return "cap";
    case Blocked::kPaused:
      return "paused";
    case Blocked::kGeneration:
      return "generation";
    case Blocked::kFrozen:
      return "frozen";
  }
  return "";
}

std::string_view ToText(NotToBeHad::Reason reason) {
  switch (reason) {
    case NotToBeHad::Reason::kUnknown:
      return "unknown";
    case NotToBeHad::Reason::kEmpty:
      return "empty";
    case NotToBeHad::Reason::kHeld:
      return "held";
    case NotToBeHad::Reason::kParked:
      return "parked";
    case NotToBeHad::Reason::kBackoff:
      return "backoff";
    case NotToBeHad::Reason::kReserved:
      return "reserved";
    case NotToBeHad::Reason::kGeneration:
      return "generation";
    case NotToBeHad::Reason::kFrozen:
      return "frozen";
    case NotToBeHad::Reason::kPaused:
      return "paused";
    case NotToBeHad::Reason::kCap:
      return "cap";
    case NotToBeHad::Reason::kLocked:
      return "contended";
  }
  return "unknown";
}

std::string_view ToText(ReportOutcome::Kind kind) {
  switch (kind) {
    case ReportOutcome::Kind::kDone:
      return "done";
    case ReportOutcome::Kind::kGone:
      return "gone";
    case ReportOutcome::Kind::kUnknown:  // as for any fence that nobody gave
    case ReportOutcome::Kind::kStale:
      return "stale";
    case ReportOutcome::Kind::kOutOfOrder:
      return "out_of_order";
    case ReportOutcome::Kind::kContended:
      return "contended";
    case ReportOutcome::Kind::kRefused:
    case ReportOutcome::Kind::kOrderLost:
    case ReportOutcome::Kind::kLeaseTooLong:
      return "refused";
  }
  return "stale";
}

std::string_view ToText(Lost lost) {
  switch (lost) {
    case Lost::kHeld:
      return "held";
    case Lost::kExpired:
      return "expired";
    case Lost::kTakenOver:
      return "taken_over";
    case Lost::kBroken:
      return "broken";
    case Lost::kTooLong:
      return "too_long";
    case Lost::kReleased:
      return "released";
  }
  return "released";
}

std::string_view ToText(Hold hold) {
  switch (hold) {
    case Hold::kHeld:
      return "held";
    case Hold::kEnded:
      return "ended";
    case Hold::kDrained:
      return "drained";
    case Hold::kTurn:
      return "turn";
    case Hold::kMaxDuration:
      return "max_duration";
  }
  return "ended";
}

std::string_view ToText(Then then) {
  switch (then) {
    case Then::kBackoff:
      return "backoff";
    case Then::kParked:
      return "parked";
    case Then::kSkipped:
      return "skipped";
    case Then::kStopped:
      return "stopped";
  }
  return "backoff";
}

std::string SentJson(const SendReply& reply) {
  std::string body;
  JsonWriter json(body);
  if (!reply.is_list) {
    WriteSent(json, reply.messages.front());
    return body;
  }
  json.BeginObject().Key("messages").BeginArray();
  for (const SentMessage& message : reply.messages) WriteSent(json, message);
  json.EndArray().EndObject();
  return body;
}

int SentStatus(const SendReply& reply) {
  return std::ranges::all_of(reply.messages, &SentMessage::duplicate) ? 200 : 201;
}

std::optional<base::StoredAnswer> SendAnswer(const SendReply& reply) {
  if (reply.kind != SendReply::Kind::kSent) return std::nullopt;
  return base::StoredAnswer{SentStatus(reply), SentJson(reply), {}};
}

std::string AcceptJson(const AcceptReply& reply) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Key("sessions").BeginArray();
  for (const HeldSession& session : reply.sessions) {
    json.BeginObject()
        .Field("session", session.id)
        .Field("key", std::string_view(session.key))
        .Field("name", std::string_view(session.name))
        .Field("fence", session.fence)
        .Field("attempt", session.attempt)
        .Key("lease_expires_at")
        .Time(session.lease_until_ms);
    WriteState(json, session.state);
    json.Field("depth", session.depth);
    WriteMessages(json, session.messages, session.attempt);
    json.EndObject();
  }
  json.EndArray();
  if (reply.blocked != Blocked::kNo) json.Field("blocked", ToText(reply.blocked));
  json.Key("now").Time(reply.now_ms);
  json.EndObject();
  return body;
}

std::string ReportJson(Report::Kind kind, const ReportRequest& request, const ReportReply& reply) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject().Key("sessions").BeginArray();
  for (std::size_t i = 0; i < reply.outcomes.size(); ++i) {
    const ReportOutcome& outcome = reply.outcomes[i];
    const bool known = outcome.kind != ReportOutcome::Kind::kUnknown;
    json.BeginObject().Field("session", request.items[i].session);
    if (kind == Report::Kind::kRenew) {
      const bool held = outcome.kind == ReportOutcome::Kind::kDone;
      json.Field("outcome", held ? "held" : "lost");
      if (held)
        json.Key("lease_expires_at").Time(outcome.row.lease_until_ms);
      else
        json.Field("reason", known ? ToText(outcome.lost) : "released");
    } else {
      json.Field("outcome", ToText(outcome.kind));
    }
    const bool counts =
        outcome.kind == ReportOutcome::Kind::kDone || outcome.kind == ReportOutcome::Kind::kGone;
    if (kind == Report::Kind::kComplete && counts) WriteHold(json, outcome);
    if (kind == Report::Kind::kFail && outcome.kind == ReportOutcome::Kind::kDone) {
      json.Field("then", ToText(outcome.then));
      if (outcome.then == Then::kBackoff) json.Key("until").Time(outcome.until_ms);
    }
    json.EndObject();
  }
  json.EndArray().Key("now").Time(reply.now_ms);
  json.EndObject();
  return body;
}

std::string ReceiveJson(const ReportOutcome& outcome, std::int64_t now_ms) {
  std::string body;
  JsonWriter json(body);
  json.BeginObject()
      .Field("session", outcome.row.id)
      .Field("fence", outcome.row.fence)
      .Key("lease_expires_at")
      .Time(outcome.row.lease_until_ms);
  json.Field("depth", outcome.row.depth());
  WriteMessages(json, outcome.messages, outcome.row.attempts + 1);
  json.Key("now").Time(now_ms);
  json.EndObject();
  return body;
}

namespace {

/// What is said of a session wherever it is shown. The object stays open.
void WriteSession(JsonWriter& json, const SessionRow& row, std::int64_t now_ms) {
  const bool waits = row.state == State::kReady && row.not_before_ms > now_ms;
  json.BeginObject()
      .Field("session", row.id)
      .Field("key", std::string_view(row.key))
      .Field("name", std::string_view(row.name))
      .Field("state", waits ? "backoff" : ToText(row.state))
      .Field("generation", row.generation)
      .Field("fence", row.fence)
      .Field("head", row.head)
      .Field("next", row.next)
      .Field("depth", row.depth())
      .Field("attempts", row.attempts);
  if (row.state == State::kHeld) {
    json.Field("consumer", std::string_view(row.consumer));
    json.Key("lease_expires_at").Time(row.lease_until_ms);
  }
  if (waits) json.Key("until").Time(row.not_before_ms);
  if (row.state == State::kParked) {
    json.Key("parked_at").Time(row.parked_ms);
    json.Field("death_reason", ToText(row.reason));
  }
  if (!row.error.empty())
    json.Field("error", std::string_view(row.error))
        .Field("error_class", std::string_view(row.error_class));
  json.Key("created_at").Time(row.created_ms).Key("active_at").Time(row.activity_ms);
}

void WriteView(JsonWriter& json, const SessionView& view) {
  WriteSession(json, view.session, view.now_ms);
  json.Key("head_enqueued_at").TimeOrNull(view.head_enqueued_ms);
  json.Field("reason", view.Reason())
      .Field("why", std::string_view(Explain(view).Sentence()))
      .EndObject();
}

/// The object stays open.
void WriteQueueMembers(JsonWriter& json, const QueueView& view) {
  const QueueRow& queue = view.queue;
  const QueueSettings& set = queue.settings;
  json.BeginObject()
      .Field("queue", std::string_view(queue.name))
      .Field("state", ToText(queue.state))
      .Field("ordering_scope", ToText(set.scope))
      .Field("generation", queue.generation)
      .Field("paused", queue.paused());
  if (queue.paused()) json.Field("paused_reason", std::string_view(queue.paused_reason));
  json.Field("messages", view.sums.messages)
      .Field("bytes", view.sums.bytes)
      .Field("ready_sessions", view.sums.ready)
      .Field("held_sessions", view.sums.held)
      .Field("backoff_sessions", view.backoff)
      .Field("parked_sessions", view.sums.parked)
      .Field("staged", view.staged)
      .Field("oldest_ready_ms", view.OldestReadyMs())
      .Field("utilization", view.Utilization());
  json.Key("older");
  if (queue.oldest < queue.generation)
    json.BeginObject()
        .Field("generation", queue.oldest)
        .Field("messages", view.older_messages)
        .Field("parked_sessions", view.older_parked)
        .EndObject();
  else
    json.Null();
  json.Key("last_asked_at").TimeOrNull(view.asked_ms);
  json.Key("settings").BeginObject();
  for (const QueueSetting& each : kQueueSettings) json.Field(each.name, set.*each.value);
  json.Field("on_dead_letter", ToText(set.on_dead_letter)).EndObject();
}

void WriteQueue(JsonWriter& json, const QueueView& view) {
  WriteQueueMembers(json, view);
  json.EndObject();
}

}  // namespace

std::string QueueJson(const QueueView& view, const std::vector<ConsumerView>& consumers) {
  std::string body;
  JsonWriter json(body);
  WriteQueueMembers(json, view);
  json.Key("consumers").BeginArray();
  for (const ConsumerView& each : consumers)
    json.BeginObject()
        .Field("consumer", std::string_view(each.consumer))
        .Field("held_sessions", each.sessions)
        .Key("last_seen")
        .Time(each.seen_ms)
        .EndObject();
  json.EndArray().EndObject();
  return body;
}

std::string QueuesJson(const db::Page<QueueView>& page) {
  return base::PageJson(page.rows, page.has_more, WriteQueue,
                        [](const QueueView& last) { return last.queue.name; });
}

std::string SessionJson(const SessionRow& row, std::int64_t now_ms) {
  std::string body;
  JsonWriter json(body);
  WriteSession(json, row, now_ms);
  json.EndObject();
  return body;
}

std::optional<base::StoredAnswer> ActAnswer(const ReportReply& reply) {
  const ReportOutcome& outcome = reply.outcomes.front();
  if (outcome.kind != ReportOutcome::Kind::kDone) return std::nullopt;
  return base::StoredAnswer{200, SessionJson(outcome.row, reply.now_ms), {}};
}

std::string SessionJson(const SessionView& view) {
  std::string body;
  JsonWriter json(body);
  WriteView(json, view);
  return body;
}

std::string SessionsJson(const db::Page<SessionView>& page) {
  return base::PageJson(page.rows, page.has_more, WriteView, [](const SessionView& last) {
    return std::to_string(last.session.generation) + ':' + last.session.key;
  });
}

std::string PeekJson(const db::Page<PeekedMessage>& page, bool shows_payload) {
  const auto write = [shows_payload](JsonWriter& json, const PeekedMessage& peeked) {
    const Message& message = peeked.message;
    json.BeginObject()
        .Field("id", message.id)
        .Field("sequence", message.sequence)
        .Field("state", ToText(peeked.State()))
        .Field("bytes", message.payload_bytes)
        .Key("enqueued_at")
        .Time(message.enqueued_ms);
    json.Key("expires_at").TimeOrNull(message.expires_ms);
    if (message.event_id) json.Field("event_id", *message.event_id);
    if (shows_payload) WritePayload(json, message);
    json.EndObject();
  };
  return base::PageJson(page.rows, page.has_more, write, [](const PeekedMessage& last) {
    return std::to_string(last.message.sequence);
  });
}

}  // namespace tenure::queues
