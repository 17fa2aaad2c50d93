#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "base/mutex.hpp"
#include "telemetry/metrics.hpp"

namespace tenure::telemetry {

/// Where a span hangs: the content of W3C's header `traceparent`. Ids are lower-case hexadecimal.
struct TraceParent {
  std::string trace_id{};  ///< 32 digits, not all of them 0
  std::string span_id{};   ///< 16 digits, not all of them 0
  bool sampled = false;    ///< whether the caller records its own span

  friend bool operator==(const TraceParent&, const TraceParent&) = default;
};

/// Strict: a header that is wrong in one character is none at all, and the trace begins here.
/// Versions above 00 are read as far as 00 goes, as the standard asks.
std::optional<TraceParent> ParseTraceParent(std::string_view header);
std::string FormatTraceParent(const TraceParent& parent);

/// While it lives, what this thread asks other servers for hangs below `parent`: http::Client sends
/// it along. Scopes may nest; the innermost that has a parent counts.
class TraceScope {
 public:
  explicit TraceScope(std::optional<TraceParent> parent);
  ~TraceScope();
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;

  /// Of this thread; null when it works for no trace.
  static const TraceParent* Current();

 private:
  const std::optional<TraceParent> parent_;
  const TraceParent* const outer_;
};

/// Which side of a request a span is, by the numbers of OTLP.
enum class SpanKind { kServer = 2, kClient = 3 };

/// One thing that was done: finished, and constant from then on.
struct SpanRecord {
  using Value = std::variant<std::string, std::int64_t>;

  std::string name{};
  SpanKind kind = SpanKind::kServer;
  std::string trace_id{};
  std::string span_id{};
  std::string parent_span_id{};  ///< empty: the trace begins with it
  std::int64_t start_unix_ns = 0;
  std::int64_t end_unix_ns = 0;
  std::vector<std::pair<std::string_view, Value>> attributes{};  ///< keys are literals
  bool failed = false;  ///< ours to look at; "somebody else holds it" is none
};

class Tracer;

/// A span under way, or nothing at all: then every call is one comparison. It ends when it is
/// destroyed, however that comes, so a request that nobody answers leaves a span too.
///
/// Threads: one at a time. REQUIRES: the tracer outlives it.
class Span {
 public:
  Span() = default;  ///< nothing: it is not recorded
  ~Span() { End(); }
  Span(Span&& other) noexcept = default;
  Span& operator=(Span&& other) noexcept;

  explicit operator bool() const { return record_ != nullptr; }
  /// For what hangs below it, also in another process; empty when it is not recorded.
  std::optional<TraceParent> context() const;

  /// Replaces what was set by that name before. Values are small and bounded by whoever sets them
  /// (names, ids, reasons); no payload, no secret. REQUIRES: `key` is a literal, `value` is UTF-8.
  void Set(std::string_view key, std::string_view value);
  void Set(std::string_view key, std::int64_t value);
  void Fail();

  void End() noexcept;

 private:
  friend class Tracer;
  Span(Tracer& tracer, std::unique_ptr<SpanRecord> record);
  void Put(std::string_view key, SpanRecord::Value value);

  Tracer* tracer_ = nullptr;
  std::unique_ptr<SpanRecord> record_;
  std::int64_t started_us_ = 0;
};

/// Makes spans and keeps the finished ones until the exporter takes them.
///
/// Never blocks and never grows: the queue has a fixed capacity, and what does not fit is dropped
/// and counted (`tenure_trace_spans_dropped_total`). The newest are dropped: a queue that is full has an
/// exporter that is behind, and what is older is nearer to the cause.
///
/// A span starts by the wall clock, in milliseconds; how long it took is measured in microseconds
/// by the monotonic clock, so no span ends before it began, whoever sets the clock meanwhile.
///
/// Threads: any.
class Tracer {
 public:
  static constexpr std::size_t kCapacity = 8'192;

  /// `capacity` 0: off, `Start` gives nothing.
  Tracer(std::size_t capacity, const base::Clock& clock, Registry& metrics);

  bool enabled() const { return capacity_ != 0; }

  /// A new span below `parent`, or a new trace. Nothing when the parent says that its trace is not
  /// recorded: half a trace helps nobody, and callers decide what they pay for.
  Span Start(std::string_view name, const std::optional<TraceParent>& parent,
             SpanKind kind = SpanKind::kServer);
  /// The same for what began `ago_ms` before now, and is noted only at its end.
  Span StartAgo(std::string_view name, const std::optional<TraceParent>& parent,
                std::int64_t ago_ms);

  /// Up to `most` finished spans, oldest first.
  std::vector<SpanRecord> Take(std::size_t most);

  /// What became of spans that were taken, for the metrics.
  void Exported(std::size_t count) { exported_.Add(count); }
  void GaveUp(std::size_t count) { not_taken_.Add(count); }

 private:
  friend class Span;
  void Finish(SpanRecord record) noexcept;

  const std::size_t capacity_;
  const base::Clock& clock_;
  Counter& exported_;
  Counter& queue_full_;
  Counter& not_taken_;
  base::Mutex mutex_;
  std::deque<SpanRecord> finished_ TENURE_GUARDED_BY(mutex_);  // oldest first
};

/// The spans as the body of an OTLP/HTTP request in its JSON form (ExportTraceServiceRequest):
/// ids in hexadecimal, 64-bit numbers as strings. `instance` names this process.
std::string OtlpJson(std::span<const SpanRecord> spans, std::string_view instance);

}  // namespace tenure::telemetry
