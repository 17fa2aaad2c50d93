#include "audit/capability.hpp"

#include <algorithm>

#include "audit/audit.hpp"
#include "audit/recorder.hpp"
#include "audit_sql/queries.hpp"
#include "server/capability.hpp"

namespace tenure::audit {
namespace {

using server::TaskRun;

struct Process {
  explicit Process(const server::Parts& parts)
      : recorder(parts.metrics), audit(parts.store, parts.clock, parts.metrics) {}

  Recorder recorder;
  Audit audit;
};

void RunRetention(Audit& audit, std::int64_t retention_ms, const TaskRun& run) {
  audit.probe().Forgotten(server::SweepAll(
      run, audit.ForgetSome, {retention_ms},
      {"audit.forgotten", "removed entries of the audit after their retention", "entries"}));
}

server::Running Run(const server::Parts& parts, const server::Others&) {
  const auto process = std::make_shared<Process>(parts);
  Audit& audit = process->audit;
  parts.store.SetRecorder(process->recorder);
  server::Running running;
  running.object = {process, &audit};
  running.type = typeid(Audit);
  running.add_routes = [&audit](http::Router& router) { AddRoutes(router, audit); };
  running.jobs = {
      {"audit.refusals", server::kOftenMs, [&audit](const auto&) { audit.refusals().Flush(); }}};
  running.stop = [&audit] { audit.refusals().Stop(); };
  // Without a retention entries are kept for ever.
  if (const std::int64_t retention_ms = parts.settings.audit.retention_ms; retention_ms > 0)
    running.tasks = {
        {"audit.retention", std::min(retention_ms, server::kRetentionIntervalMs),
         [&audit, retention_ms](const TaskRun& run) { RunRetention(audit, retention_ms, run); }}};
  return running;
}

}  // namespace

server::Capability Capability() {
  return {.name = "audit", .queries = sql::All(), .commands = Commands, .run = Run};
}

}  // namespace tenure::audit
