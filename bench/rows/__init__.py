"""The rows, in the order of the README's table. A row is a module with NAME, a first line of documentation and
measure(bench), which returns figures."""

from . import (authentication, experience, floods, growth_history, growth_live, idle, jobs_asleep, jobs_due, jobs_late, leases_handover, leases_held, leases_loss, leases_pg, leases_redis,
               leases_sqlite, messages_growth, messages_http, messages_latency, messages_library,
               messages_snapshot, overload, pg_create, pg_existing, push_others, push_rate, queues_crowd, queues_growth, queues_latency,
               queues_rates, seats_denials, seats_handover,
               seats_ledger, seats_log, seats_rates, seats_storm, sqlite_create, sqlite_existing, strangers, usage_window, wake_three,
               webhooks)

ROWS = [sqlite_existing, sqlite_create, pg_create, pg_existing, usage_window, leases_pg, leases_sqlite, leases_redis,
        leases_handover, leases_held, leases_loss, messages_library, messages_http, messages_latency,
        messages_growth, messages_snapshot, jobs_due, jobs_late, jobs_asleep,
        push_rate, push_others, seats_rates, seats_denials, seats_handover,
        seats_storm, seats_ledger, seats_log, webhooks, queues_rates, queues_latency, queues_growth, queues_crowd, strangers, wake_three, idle, growth_history, growth_live, overload, floods,
        authentication, experience]
