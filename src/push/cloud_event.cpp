#include "push/cloud_event.hpp"

#include <fmt/format.h>

#include "base/base64.hpp"
#include "base/json_writer.hpp"
#include "base/time_text.hpp"
#include "http/json_value.hpp"

namespace tenure::push {
namespace {

constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kBytesType = "application/octet-stream";
constexpr std::size_t kMaxTypeBytes = 255;

void AppendPercent(std::string& out, char c) {
  out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
}

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

/// One segment of a path.
std::string PathSegment(std::string_view text) {
  std::string out;
  for (const char c : text) IsUnreserved(c) ? static_cast<void>(out += c) : AppendPercent(out, c);
  return out;
}

/// As the HTTP binding wants the value of an attribute: what is not visible ASCII is encoded, and so
/// are the quote and the percent sign.
std::string AttributeValue(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = c > ' ' && c < '\x7f' && c != '"' && c != '%';
    plain ? static_cast<void>(out += c) : AppendPercent(out, c);
  }
  return out;
}

/// What is said of a message in its session. A sequence is a text whose order is that of the numbers.
std::vector<std::pair<std::string_view, std::string>> Extensions(const Turn* turn) {
  if (!turn) return {};
  std::vector<std::pair<std::string_view, std::string>> all{
      {"subject", turn->name},
      {"partitionkey", turn->key},
      {"sequence", fmt::format("{:019}", turn->sequence)},
      {"tenurefence", std::to_string(turn->fence)}};
  if (!turn->delivery_id.empty()) all.emplace_back("githubdelivery", turn->delivery_id);
  return all;
}

std::string_view ContentType(messages::PayloadKind kind) {
  return kind == messages::PayloadKind::kJson ? kJsonType : kBytesType;
}

}  // namespace

std::string_view ToText(Format format) {
  return format == Format::kStructured ? "structured" : "binary";
}

EncodedEvent Encode(const Event& event, Format format) {
  const std::string source = event.turn
                                 ? fmt::format("/tenants/{}/queues/{}", PathSegment(event.tenant),
                                               PathSegment(event.turn->queue))
                                 : fmt::format("/tenants/{}/topics/{}", PathSegment(event.tenant),
                                               PathSegment(event.topic));
  const std::string_view type = event.type.empty() ? event.topic : event.type;
  const std::string time = base::UtcText(event.time_ms);
  EncodedEvent encoded;
  if (!event.trace_parent.empty()) encoded.headers.emplace_back("traceparent", event.trace_parent);
  if (format == Format::kBinary) {
    encoded.headers.emplace_back("ce-specversion", "1.0");
    encoded.headers.emplace_back("ce-id", event.id);
    encoded.headers.emplace_back("ce-source", source);
    encoded.headers.emplace_back("ce-type", AttributeValue(type));
    encoded.headers.emplace_back("ce-time", time);
    for (const auto& [name, value] : Extensions(event.turn))
      encoded.headers.emplace_back("ce-" + std::string(name), AttributeValue(value));
    encoded.headers.emplace_back("Content-Type", ContentType(event.kind));
    encoded.body = event.payload;
    return encoded;
  }
  encoded.headers.emplace_back("Content-Type", "application/cloudevents+json; charset=utf-8");
  base::JsonWriter json(encoded.body);
  json.BeginObject()
      .Field("specversion", "1.0")
      .Field("id", event.id)
      .Field("source", std::string_view(source))
      .Field("type", type)
      .Field("time", std::string_view(time))
      .Field("datacontenttype", ContentType(event.kind));
  for (const auto& [name, value] : Extensions(event.turn))
    json.Field(name, std::string_view(value));
  if (!event.trace_parent.empty()) json.Field("traceparent", event.trace_parent);
  if (event.kind == messages::PayloadKind::kJson)
    json.Key("data").Stored(event.payload);
  else
    json.Field("data_base64", std::string_view(base::EncodeBase64(event.payload)));
  json.EndObject();
  return encoded;
}

std::string TypeOf(std::string_view message_headers) {
  if (message_headers.empty()) return "";
  const auto headers = http::JsonValue::Parse(message_headers);
  if (!headers) return "";
  const auto type = headers->TextOf("type");
  return type && type->size() <= kMaxTypeBytes ? std::string(*type) : "";
}

}  // namespace tenure::push
