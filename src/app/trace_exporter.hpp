#pragma once

#include <chrono>
#include <condition_variable>
#include <span>
#include <string>
#include <thread>

#include "base/mutex.hpp"
#include "http/client.hpp"
#include "telemetry/trace.hpp"

namespace tenure::app {

/// Sends finished spans to a collector, as OTLP over HTTP in its JSON form.
///
/// One thread: it looks once a second and sends what it finds in requests of at most 512 spans. A
/// collector that does not answer, or asks for patience (429, 502, 503, 504), is asked three times
/// in all; then the batch is dropped and counted. Meanwhile the tracer's queue fills up and drops
/// what does not fit, so nobody ever waits for a collector and nothing grows. When an answer was
/// lost the same spans are sent again, with the same ids.
///
/// Life: construct, Start, Stop. `Stop` gives the collector a moment for what is left, then cuts it
/// off. (Only a name server that does not answer can hold that up.) Threads: one, which also
/// destroys it.
class TraceExporter {
 public:
  struct Options {
    std::string endpoint{};  ///< the whole URL, as the setting accepts it
    std::string instance{};  ///< "host:pid:random"
  };

  TraceExporter(Options options, telemetry::Tracer& tracer);
  ~TraceExporter();

  void Start();
  void Stop();

 private:
  enum class Answer { kTaken, kTryAgain, kRefused };

  void Loop();
  void SendAll();
  void Deliver(std::span<const telemetry::SpanRecord> batch);
  Answer Send(const std::string& body);
  void Tell(bool taken);
  /// False: stopping, at once.
  bool Pause(std::chrono::milliseconds time);

  const Options options_;
  telemetry::Tracer& tracer_;
  http::Client client_;  // the thread's; `Stop` cancels it
  const std::string path_;
  std::string trouble_;    // the thread's: why the last request failed
  bool troubled_ = false;  // the thread's: a failure was logged, and no success since

  base::Mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ TENURE_GUARDED_BY(mutex_) = false;
  bool ended_ TENURE_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace tenure::app
