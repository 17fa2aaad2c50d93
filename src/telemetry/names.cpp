#include "telemetry/names.hpp"

#include <algorithm>
#include <array>

namespace tenure::telemetry {
namespace {

constexpr std::array kPromised = std::to_array<std::string_view>({
    "sessions_created_total",
    "sessions_upgraded_total",
    "sessions_active",
    "sessions_expiry_duration_seconds",
    "sessions_contention_total",
    "usage_emissions_total",
    "usage_window_lateness_seconds",
    "usage_unsent_records",
    "leasing_acquisitions_total",
    "leasing_acquisition_duration_seconds",
    "leasing_renewals_total",
    "leasing_renewal_failures_total",
    "leasing_leases_lost_total",
    "leasing_active_leases",
    "task_lock_age_seconds",
    "task_stale_locks_reclaimed_total",
    "store_clock_step_seconds",
    "messages_oldest_seconds",
    "messages_dead",
    "jobs_fired_total",
    "jobs_skipped_total",
    "jobs_lateness_seconds",
    "jobs_runs_total",
    "jobs_last_success_timestamp_seconds",
    "push_delivered_total",
    "push_failed_total",
    "push_in_flight",
    "push_latency_seconds",
    "push_circuit_open",
    "license_seats_used",
    "license_seats_total",
    "license_acquire_requests_total",
    "license_acquire_failures_total",
    "license_heartbeats_total",
    "license_resumes_total",
    "license_waiting",
    "license_wait_seconds",
    "license_offers_total",
    "license_log_entries_total",
    "session_heartbeat_latency_seconds",
    "queue_routing_fallbacks_total",
    "webhook_deliveries_total",
    "webhook_intake_seconds",
    "webhook_secrets",
});

}  // namespace

std::span<const std::string_view> PromisedNames() { return kPromised; }

bool IsProperName(std::string_view name) {
  return name.starts_with(kOwnPrefix) || std::ranges::find(kPromised, name) != kPromised.end();
}

}  // namespace tenure::telemetry
