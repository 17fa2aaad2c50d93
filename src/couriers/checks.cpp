#include "couriers/checks.hpp"

#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/json_writer.hpp"
#include "base/utf8.hpp"
#include "messages/message.hpp"

namespace tenure::couriers {
namespace {

void Check(bool good, std::string_view field, std::string_view rule) {
  if (!good) throw std::invalid_argument(fmt::format("{} {}", field, rule));
}

void CheckText(std::string_view text, std::size_t max_bytes, std::string_view field) {
  Check(text.size() <= max_bytes && base::IsStorableText(text), field,
        fmt::format("must be UTF-8 of at most {} bytes", max_bytes));
}

void CheckTopic(std::string_view topic) {
  Check(!topic.empty(), "topic", "must not be empty");
  CheckText(topic, messages::kMaxTopicBytes, "topic");
}

/// Whether it is one JSON value, and nothing behind it.
bool IsJson(const std::string& text, bool object_only) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(text).get(root)) return false;
  return !object_only || root.is_object();
}

}  // namespace

void CheckMessage(const Message& message) {
  CheckTopic(message.topic);
  if (!message.is_bytes) Check(IsJson(message.payload, false), "payload", "must be JSON");
  Check(message.priority >= 0 && message.priority < messages::kPriorities, "priority",
        "must be 0 to 9");
  Check(!message.due_at_ms || !message.delay, "delay", "cannot be said beside due_at_ms");
  Check(!message.delay || message.delay->count() >= 0, "delay", "must not be negative");
  CheckText(message.correlation_id, messages::kMaxCorrelationBytes, "correlation_id");
  CheckText(message.dedup_key, messages::kMaxDedupKeyBytes, "dedup_key");
  CheckText(message.traceparent, 55, "traceparent");
  if (!message.headers.empty())
    Check(message.headers.size() <= messages::kMaxHeadersBytes && IsJson(message.headers, true),
          "headers",
          fmt::format("must be a JSON object of at most {} bytes", messages::kMaxHeadersBytes));
}

void CheckMessages(std::span<const Message> messages) {
  Check(messages.size() <= messages::kMaxBatch, "messages",
        fmt::format("must be at most {}", messages::kMaxBatch));
  for (const Message& each : messages) CheckMessage(each);
}

void CheckWish(const Wish& wish) {
  Check(!wish.topics.empty(), "topics", "must not be empty");
  std::set<std::string_view> seen;
  for (const std::string& topic : wish.topics) {
    CheckTopic(topic);
    Check(seen.insert(topic).second, "topics", "must be named once each");
  }
  Check(wish.max >= 1 && wish.max <= static_cast<std::int64_t>(messages::kMaxBatch), "max",
        fmt::format("must be 1 to {}", messages::kMaxBatch));
  Check(wish.wait.count() >= 0, "wait", "must not be negative");
  if (wish.lease)
    Check(wish.lease->count() >= messages::kMinLeaseMs &&
              wish.lease->count() <= messages::kMaxLeaseMs,
          "lease", "must be from 1 s to 24 h");
  CheckText(wish.owner, messages::kMaxOwnerBytes, "owner");
}

std::string StorableError(std::string_view error) {
  if (!base::IsStorableText(error)) return "failed, with a reason that is no text";
  if (error.size() <= messages::kMaxErrorBytes) return std::string(error);
  // Not in the middle of a character.
  std::size_t size = messages::kMaxErrorBytes;
  while (size > 0 && (static_cast<unsigned char>(error[size]) & 0xC0U) == 0x80U) --size;
  return std::string(error.substr(0, size));
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

}  // namespace tenure::couriers
