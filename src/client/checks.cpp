#include "client/checks.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/json_writer.hpp"
#include "base/time_text.hpp"
#include "base/utf8.hpp"
#include "http/json_fields.hpp"
#include "http/json_value.hpp"
#include "messages/message.hpp"

namespace tenure::client {
namespace {

using leases::kMaxTtl;
using messages::Message;

void Check(bool good, std::string_view field, std::string_view rule) {
  if (!good) throw std::invalid_argument(fmt::format("{} {}", field, rule));
}

void CheckText(std::string_view text, std::size_t max_bytes, std::string_view field) {
  Check(text.size() <= max_bytes && base::IsStorableText(text), field,
        fmt::format("must be UTF-8 of at most {} bytes", max_bytes));
}

void CheckTtl(Milliseconds ttl, std::string_view field) {
  Check(ttl >= leases::kMinTtl && ttl <= kMaxTtl, field, "must be from 100 ms to 24 h");
}

void CheckMessageLease(std::optional<Milliseconds> lease) {
  Check(!lease ||
            (lease->count() >= messages::kMinLeaseMs && lease->count() <= messages::kMaxLeaseMs),
        "lease", "must be from 1 s to 24 h");
}

void CheckTopic(std::string_view topic) {
  Check(!topic.empty(), "topic", "must not be empty");
  CheckText(topic, messages::kMaxTopicBytes, "topic");
}

/// Whether it is one JSON value, and nothing behind it.
bool IsJson(const std::string& text, bool object_only) {
  if (http::HasByteOrderMark(text)) return false;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(text).get(root)) return false;
  return !object_only || root.is_object();
}

}  // namespace

void CheckLeaseName(std::string_view name) {
  Check(leases::IsLeaseName(name), "name", "must be 1 to 200 of A-Z a-z 0-9 . _ : / @ -");
}

void CheckTaskName(std::string_view name) {
  Check(leases::IsLeaseName(name) && name.size() <= leases::kMaxTaskNameBytes, "name",
        "must be 1 to 195 of A-Z a-z 0-9 . _ : / @ -");
}

void CheckRequest(const leases::AcquireRequest& request) {
  CheckLeaseName(request.name);
  CheckTtl(request.ttl, "ttl");
  CheckText(request.holder, leases::kMaxHolderBytes, "holder");
  Check(request.wait >= Milliseconds(0) && request.wait <= leases::kMaxWait, "wait",
        "must be at most 60 s");
}

void CheckRequest(const leases::RenewRequest& request) {
  CheckLeaseName(request.name);
  if (request.ttl) CheckTtl(*request.ttl, "ttl");
}

void CheckRequest(const leases::BreakRequest& request) {
  CheckLeaseName(request.name);
  CheckText(request.reason, leases::kMaxReasonBytes, "reason");
  Check(!request.reason.empty(), "reason", "must say why");
  Check(request.drain >= Milliseconds(0) && request.drain <= kMaxTtl, "drain",
        "must be at most 24 h");
}

void CheckRequest(const leases::ListRequest& request) {
  Check(request.limit >= 1 && request.limit <= leases::kMaxListed, "limit", "must be 1 to 1000");
}

void CheckRequest(const leases::TaskClaim& claim) {
  CheckTaskName(claim.name);
  Check(claim.interval >= leases::kMinInterval && claim.interval <= leases::kMaxInterval,
        "interval", "must be from 100 ms to 366 days");
  CheckTtl(claim.lock_timeout, "lock_timeout");
  CheckText(claim.holder, leases::kMaxHolderBytes, "holder");
}

base::Uuid TermOf(const std::string& term) {
  if (const auto parsed = base::Uuid::Parse(term)) return *parsed;
  throw std::invalid_argument("term must be a UUID");
}

std::string MetadataOf(const std::string& metadata) {
  if (metadata.empty()) return metadata;
  std::string body = fmt::format(R"({{"metadata":{}}})", metadata);
  const std::size_t size = body.size();
  body.append(http::Request::kBodyPadding, ' ');
  try {
    http::JsonFields fields(std::string_view(body).substr(0, size));
    std::string object = fields.Object("metadata", leases::kMaxMetadataBytes);
    fields.Finish();
    return object;
  } catch (const http::ProblemError& error) {
    throw std::invalid_argument(error.what());
  }
}

void CheckMessage(const Message& message) {
  CheckTopic(message.topic);
  if (!message.is_bytes) Check(IsJson(message.payload, false), "payload", "must be JSON");
  Check(message.priority >= 0 && message.priority < messages::kPriorities, "priority",
        "must be 0 to 9");
  Check(!message.due_at_ms || !message.delay, "delay", "cannot be said beside due_at_ms");
  Check(
      !message.due_at_ms || (*message.due_at_ms >= 0 && *message.due_at_ms <= messages::kLastDueMs),
      "due_at_ms", "must lie between the years 1970 and 9999");
  Check(!message.delay ||
            (message.delay->count() >= 0 && message.delay->count() <= messages::kMaxDelayMs),
        "delay", "must be from 0 to 100 years");
  CheckText(message.correlation_id, messages::kMaxCorrelationBytes, "correlation_id");
  CheckText(message.dedup_key, messages::kMaxDedupKeyBytes, "dedup_key");
  CheckText(message.traceparent, 55, "traceparent");
  if (!message.headers.empty())
    Check(message.headers.size() <= messages::kMaxHeadersBytes && IsJson(message.headers, true),
          "headers",
          fmt::format("must be a JSON object of at most {} bytes", messages::kMaxHeadersBytes));
}

void CheckPayload(const std::string& payload) {
  Check(IsJson(payload, false), "payload", "must be JSON");
}

void CheckJob(const jobs::Job& job) {
  CheckPayload(job.payload);
  if (!job.headers.empty()) Check(IsJson(job.headers, true), "headers", "must be a JSON object");
}

std::optional<std::int64_t> NominalTimeIn(const std::string& headers) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::string_view text;
  if (headers.empty() || parser.parse(headers).get(root)) return std::nullopt;
  if (root["tenure-nominal-time"].get_string().get(text)) return std::nullopt;
  return base::ParseUtcMs(text);
}

void CheckMessages(std::span<const Message> messages) {
  Check(messages.size() <= messages::kMaxBatch, "messages",
        fmt::format("must be at most {}", messages::kMaxBatch));
  for (const Message& each : messages) CheckMessage(each);
}

void CheckClaim(const MessageClaim& claim) {
  Check(!claim.topics.empty() && claim.topics.size() <= messages::kMaxClaimTopics, "topics",
        fmt::format("must be 1 to {}", messages::kMaxClaimTopics));
  std::set<std::string_view> seen;
  for (const std::string& topic : claim.topics) {
    CheckTopic(topic);
    Check(seen.insert(topic).second, "topics", "must be named once each");
  }
  Check(claim.max >= 1 && claim.max <= static_cast<std::int64_t>(messages::kMaxBatch), "max",
        fmt::format("must be 1 to {}", messages::kMaxBatch));
  Check(claim.wait.count() >= 0, "wait", "must not be negative");
  CheckMessageLease(claim.lease);
  CheckText(claim.owner, messages::kMaxOwnerBytes, "owner");
}

void CheckSettlements(std::span<const Settlement> settlements, std::optional<Milliseconds> lease) {
  Check(settlements.size() <= messages::kMaxBatch, "messages",
        fmt::format("must be at most {}", messages::kMaxBatch));
  CheckMessageLease(lease);
  for (const Settlement& each : settlements)
    Check(!each.retry_after || (each.retry_after->count() >= 0 &&
                                each.retry_after->count() <= messages::kMaxRetryMs),
          "retry_after", "must be from 0 to 366 days");
}

void CheckSeatOptions(const seats::SeatOptions& options) {
  constexpr std::size_t kMaxKeyBytes = 200;
  constexpr std::size_t kMaxSeatMetadataBytes = 16 * 1024;
  const bool visible =
      std::ranges::all_of(options.license_key, [](char c) { return c >= ' ' && c < '\x7f'; });
  Check(!options.license_key.empty() && options.license_key.size() <= kMaxKeyBytes && visible,
        "license_key", "must have 1 to 200 printable ASCII characters");
  CheckText(options.application, 100, "application");
  CheckText(options.user_agent, 500, "user_agent");
  Check(options.metadata.empty() ||
            (options.metadata.size() <= kMaxSeatMetadataBytes && IsJson(options.metadata, true)),
        "metadata", "must be a JSON object of at most 16 KiB");
  Check(options.wait >= Milliseconds(0), "wait", "must not be below 0");
  Check(options.tries_when_in_use >= 0, "tries_when_in_use", "must not be below 0");
  Check(options.call_timeout > Milliseconds(0), "call_timeout", "must be above 0");
}

std::string StorableError(std::string_view error, std::size_t max_bytes) {
  if (!base::IsStorableText(error)) return "failed, with a reason that is no text";
  return std::string(base::CutText(error, max_bytes));
}

std::string HeadersWithTrace(const Message& message) {
  if (message.traceparent.empty()) return message.headers;
  std::string out;
  base::JsonWriter(out)
      .BeginObject()
      .Field("traceparent", std::string_view(message.traceparent))
      .EndObject();
  if (message.headers.empty()) return out;
  const std::size_t inside = message.headers.find('{') + 1;
  const bool is_empty = message.headers.find('"', inside) == std::string::npos;
  if (is_empty) return out;
  out.pop_back();
  return out + "," + message.headers.substr(inside);
}

void CheckSessionMessages(std::span<const queues::SessionMessage> sent) {
  constexpr std::size_t kMaxKeyBytes = 200;
  Check(sent.size() <= messages::kMaxBatch, "messages", "must be at most 1000");
  for (const queues::SessionMessage& each : sent) {
    Check(!each.session_key.empty(), "session_key", "must not be empty");
    CheckText(each.session_key, kMaxKeyBytes, "session_key");
    CheckText(each.share, kMaxKeyBytes, "share");
    if (!each.is_bytes) Check(IsJson(each.payload, false), "payload", "must be JSON");
    CheckText(each.correlation_id, messages::kMaxCorrelationBytes, "correlation_id");
    CheckText(each.dedup_key, messages::kMaxDedupKeyBytes, "dedup_key");
    Check(!each.ttl || (each.ttl->count() >= 0 && each.ttl->count() <= messages::kMaxRetryMs),
          "ttl", "must be from 0 to 366 days");
    if (!each.headers.empty())
      Check(each.headers.size() <= messages::kMaxHeadersBytes && IsJson(each.headers, true),
            "headers",
            fmt::format("must be a JSON object of at most {} bytes", messages::kMaxHeadersBytes));
  }
}

}  // namespace tenure::client
