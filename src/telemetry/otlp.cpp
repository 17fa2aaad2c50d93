#include "telemetry/otlp.hpp"

#include "base/json_writer.hpp"

namespace tenure::telemetry {
namespace {

using base::JsonWriter;

// A number of one of the protocol's enums, which its JSON form writes as numbers.
constexpr int kStatusError = 2;

constexpr std::size_t kBytesPerSpan = 800;  // about as much as one takes

void WriteAttribute(JsonWriter& json, std::string_view key, const SpanRecord::Value& value) {
  json.BeginObject().Field("key", key).Key("value").BeginObject();
  if (const auto* text = std::get_if<std::string>(&value))
    json.Field("stringValue", std::string_view(*text));
  else
    json.Field("intValue", std::string_view(std::to_string(std::get<std::int64_t>(value))));
  json.EndObject().EndObject();
}

void WriteSpan(JsonWriter& json, const SpanRecord& span) {
  json.BeginObject()
      .Field("traceId", std::string_view(span.trace_id))
      .Field("spanId", std::string_view(span.span_id));
  if (!span.parent_span_id.empty())
    json.Field("parentSpanId", std::string_view(span.parent_span_id));
  json.Field("name", std::string_view(span.name))
      .Field("kind", static_cast<int>(span.kind))
      .Field("startTimeUnixNano", std::string_view(std::to_string(span.start_unix_ns)))
      .Field("endTimeUnixNano", std::string_view(std::to_string(span.end_unix_ns)));
  json.Key("attributes").BeginArray();
  for (const auto& [key, value] : span.attributes) WriteAttribute(json, key, value);
  json.EndArray().Key("status").BeginObject();
  if (span.failed) json.Field("code", kStatusError);
  json.EndObject().EndObject();
}

void WriteResource(JsonWriter& json, std::string_view instance) {
  json.Key("resource").BeginObject().Key("attributes").BeginArray();
  WriteAttribute(json, "service.name", "tenure");
  WriteAttribute(json, "service.version", TENURE_VERSION);
  WriteAttribute(json, "service.instance.id", std::string(instance));
  json.EndArray().EndObject();
}

}  // namespace

std::string OtlpJson(std::span<const SpanRecord> spans, std::string_view instance) {
  std::string body;
  body.reserve((spans.size() + 1) * kBytesPerSpan);
  JsonWriter json(body);
  json.BeginObject().Key("resourceSpans").BeginArray().BeginObject();
  WriteResource(json, instance);
  json.Key("scopeSpans").BeginArray().BeginObject();
  json.Key("scope").BeginObject().Field("name", "tenure").EndObject();
  json.Key("spans").BeginArray();
  for (const SpanRecord& span : spans) WriteSpan(json, span);
  json.EndArray().EndObject().EndArray();
  json.EndObject().EndArray().EndObject();
  return body;
}

}  // namespace tenure::telemetry
