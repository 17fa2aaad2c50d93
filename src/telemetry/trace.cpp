#include "telemetry/trace.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "base/uuid.hpp"

namespace tenure::telemetry {
namespace {

constexpr std::size_t kTraceBytes = 16;
constexpr std::size_t kSpanBytes = 8;
constexpr std::int64_t kNanosPerMs = 1'000'000;
constexpr std::int64_t kNanosPerMicro = 1'000;

// "00-<32 digits>-<16 digits>-<2 digits>"
constexpr std::size_t kTraceAt = 3;
constexpr std::size_t kSpanAt = 36;
constexpr std::size_t kFlagsAt = 53;
constexpr std::size_t kHeaderSize = 55;

constexpr const char* kDropped = "tenure_trace_spans_dropped_total";
constexpr const char* kDroppedHelp = "Spans that never reached the collector, by reason.";

thread_local const TraceParent* current_trace = nullptr;

bool IsHex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool IsId(std::string_view text) {
  return IsHex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

/// Version 00 ends with its flags; a later one may go on after another dash.
bool HasItsLength(std::string_view header, std::string_view version) {
  if (version == "00") return header.size() == kHeaderSize;
  return header.size() == kHeaderSize || header[kHeaderSize] == '-';
}

/// The last bit of the two digits.
bool IsSampled(std::string_view flags) {
  return std::string_view("13579bdf").find(flags[1]) != std::string_view::npos;
}

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

std::optional<TraceParent> ParseTraceParent(std::string_view header) {
  if (header.size() < kHeaderSize) return std::nullopt;
  const std::string_view version = header.substr(0, 2);
  const std::string_view trace_id = header.substr(kTraceAt, 2 * kTraceBytes);
  const std::string_view span_id = header.substr(kSpanAt, 2 * kSpanBytes);
  const std::string_view flags = header.substr(kFlagsAt, 2);
  const bool dashed =
      header[kTraceAt - 1] == '-' && header[kSpanAt - 1] == '-' && header[kFlagsAt - 1] == '-';
  if (!dashed || !IsHex(version) || version == "ff" || !HasItsLength(header, version))
    return std::nullopt;
  if (!IsId(trace_id) || !IsId(span_id) || !IsHex(flags)) return std::nullopt;
  return TraceParent{std::string(trace_id), std::string(span_id), IsSampled(flags)};
}

std::string FormatTraceParent(const TraceParent& parent) {
  return fmt::format("00-{}-{}-{}", parent.trace_id, parent.span_id, parent.sampled ? "01" : "00");
}

TraceScope::TraceScope(std::optional<TraceParent> parent)
    : parent_(std::move(parent)), outer_(current_trace) {
  if (parent_) current_trace = &*parent_;
}
TraceScope::~TraceScope() { current_trace = outer_; }

const TraceParent* TraceScope::Current() { return current_trace; }

Span::Span(Tracer& tracer, std::unique_ptr<SpanRecord> record)
    : tracer_(&tracer), record_(std::move(record)), started_us_(base::MeasureMicros()) {}

Span& Span::operator=(Span&& other) noexcept {
  End();
  tracer_ = other.tracer_;
  record_ = std::move(other.record_);
  started_us_ = other.started_us_;
  return *this;
}

std::optional<TraceParent> Span::context() const {
  if (!record_) return std::nullopt;
  return TraceParent{record_->trace_id, record_->span_id, true};
}

void Span::Set(std::string_view key, std::string_view value) {
  if (record_) Put(key, std::string(value));
}

void Span::Set(std::string_view key, std::int64_t value) {
  if (record_) Put(key, value);
}

void Span::Put(std::string_view key, SpanRecord::Value value) {
  auto& attributes = record_->attributes;
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const auto& attribute) { return attribute.first == key; });
  if (found == attributes.end())
    attributes.emplace_back(key, std::move(value));
  else
    found->second = std::move(value);
}

void Span::Fail() {
  if (record_) record_->failed = true;
}

void Span::End() noexcept {
  if (!record_) return;
  const std::int64_t took_us = base::MeasureMicros() - started_us_;
  record_->end_unix_ns = record_->start_unix_ns + took_us * kNanosPerMicro;
  tracer_->Finish(std::move(*std::exchange(record_, nullptr)));
}

Tracer::Tracer(std::size_t capacity, const base::Clock& clock, Registry& metrics)
    : capacity_(capacity),
      clock_(clock),
      exported_(metrics.GetCounter("tenure_trace_spans_exported_total",
                                   "Spans that the collector took.")),
      queue_full_(metrics.GetCounter(kDropped, kDroppedHelp, {{"reason", "queue_full"}})),
      not_taken_(metrics.GetCounter(kDropped, kDroppedHelp, {{"reason", "not_taken"}})) {}

Span Tracer::Start(std::string_view name, const std::optional<TraceParent>& parent, SpanKind kind) {
  if (!enabled() || (parent && !parent->sampled)) return {};
  auto record = std::make_unique<SpanRecord>();
  record->name = name;
  record->kind = kind;
  record->trace_id = parent ? parent->trace_id : base::RandomHex(kTraceBytes);
  record->span_id = base::RandomHex(kSpanBytes);
  if (parent) record->parent_span_id = parent->span_id;
  record->start_unix_ns = clock_.WallMs() * kNanosPerMs;
  return {*this, std::move(record)};
}

Span Tracer::StartAgo(std::string_view name, const std::optional<TraceParent>& parent,
                      std::int64_t ago_ms) {
  Span span = Start(name, parent);
  if (!span) return span;
  span.record_->start_unix_ns -= ago_ms * kNanosPerMs;
  span.started_us_ -= ago_ms * kNanosPerMs / kNanosPerMicro;
  return span;
}

void Tracer::Finish(SpanRecord record) noexcept {
  const base::Lock lock(mutex_);
  if (finished_.size() < capacity_)
    finished_.push_back(std::move(record));
  else
    queue_full_.Add();
}

std::vector<SpanRecord> Tracer::Take(std::size_t most) {
  const base::Lock lock(mutex_);
  const auto end =
      finished_.begin() + static_cast<std::ptrdiff_t>(std::min(most, finished_.size()));
  std::vector<SpanRecord> taken(std::make_move_iterator(finished_.begin()),
                                std::make_move_iterator(end));
  finished_.erase(finished_.begin(), end);
  return taken;
}

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
