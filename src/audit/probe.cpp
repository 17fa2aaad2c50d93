#include "audit/probe.hpp"

namespace tenure::audit {

Probe::Probe(telemetry::Registry& metrics)
    : metrics_(metrics),
      refused_(metrics.GetCounter("tenure_audit_refusals_total",
                                  "Refusals that are told in the audit, alone or in a sum.")),
      forgotten_(metrics.GetCounter("tenure_audit_forgotten_total",
                                    "Entries removed after audit.retention.")) {}

void Probe::Recorded(const std::string& act) {
  metrics_.GetCounter("tenure_audit_entries_total", "Acts put on record, by name.", {{"act", act}})
      .Add();
}

}  // namespace tenure::audit
