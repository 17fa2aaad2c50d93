#include "telemetry/trace.hpp"
#include "tenure/trace.hpp"

namespace tenure {

class TraceScope::Impl {
 public:
  explicit Impl(std::string_view traceparent) : scope_(telemetry::ParseTraceParent(traceparent)) {}

 private:
  const telemetry::TraceScope scope_;
};

TraceScope::TraceScope(std::string_view traceparent) : impl_(std::make_unique<Impl>(traceparent)) {}
TraceScope::~TraceScope() = default;

}  // namespace tenure
