#include "app/trace_exporter.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/log.hpp"
#include "telemetry/trace.hpp"

namespace tenure::app {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kBatchSpans = 512;
constexpr milliseconds kInterval{1'000};
constexpr std::int64_t kRequestTimeoutMs = 5'000;
/// Before the second and the third try.
constexpr std::array kPauses{milliseconds(500), milliseconds(2'000)};
/// What is left of the spans has this long at the end: with it, stopping stays below a second.
constexpr milliseconds kLastWords{700};

bool AsksForPatience(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

TraceExporter::TraceExporter(Options options, telemetry::Tracer& tracer)
    : options_(std::move(options)),
      tracer_(tracer),
      client_(
          {.base_url = http::SplitUrl(options_.endpoint).base, .timeout_ms = kRequestTimeoutMs}),
      path_(http::SplitUrl(options_.endpoint).path) {}

TraceExporter::~TraceExporter() { Stop(); }

void TraceExporter::Start() {
  thread_ = std::thread([this] { Loop(); });
}

void TraceExporter::Stop() {
  if (!thread_.joinable()) return;
  {
    base::Lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    changed_.wait_for(lock.native(), kLastWords, [&] {
      mutex_.AssertHeld();
      return ended_;
    });
  }
  client_.Cancel();  // from here on every request fails at once, so the thread comes to its end
  thread_.join();
}

void TraceExporter::Loop() {
  while (Pause(kInterval)) SendAll();
  SendAll();
  const base::Lock lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

bool TraceExporter::Pause(milliseconds time) {
  base::Lock lock(mutex_);
  return !changed_.wait_for(lock.native(), time, [&] {
    mutex_.AssertHeld();
    return stopping_;
  });
}

void TraceExporter::SendAll() {
  for (auto batch = tracer_.Take(kBatchSpans); !batch.empty(); batch = tracer_.Take(kBatchSpans))
    Deliver(batch);
}

void TraceExporter::Deliver(std::span<const telemetry::SpanRecord> batch) {
  const std::string body = telemetry::OtlpJson(batch, options_.instance);
  Answer answer = Send(body);
  for (const milliseconds pause : kPauses) {
    if (answer != Answer::kTryAgain || !Pause(pause)) break;
    answer = Send(body);
  }
  const bool taken = answer == Answer::kTaken;
  if (taken)
    tracer_.Exported(batch.size());
  else
    tracer_.GaveUp(batch.size());
  Tell(taken);
}

TraceExporter::Answer TraceExporter::Send(const std::string& body) {
  try {
    const int status = client_.Send(http::Method::kPost, path_, body).status;
    if (status >= 200 && status < 300) return Answer::kTaken;
    trouble_ = fmt::format("it answered {}", status);
    return AsksForPatience(status) ? Answer::kTryAgain : Answer::kRefused;
  } catch (const std::exception&) {
    trouble_ = "it does not answer";
    return Answer::kTryAgain;
  }
}

/// Once when it begins and once when it is over: a collector that is gone for a day is two lines.
void TraceExporter::Tell(bool taken) {
  if (taken != troubled_) return;
  troubled_ = !taken;
  if (taken)
    base::LogInfo("traces.resumed", "the collector takes spans again",
                  {{"endpoint", options_.endpoint}});
  else
    base::LogWarn("traces.failed", "the collector does not take spans; they are dropped",
                  {{"endpoint", options_.endpoint}, {"detail", trouble_}});
}

}  // namespace tenure::app
