"""The rows, in the order of spec 90. A row is a module with NAME, a first line of documentation and
measure(bench), which returns figures."""

from . import (authentication, growth_history, growth_live, idle, leases_handover, leases_held, leases_loss, leases_pg,
               leases_sqlite, messages_growth, messages_http, messages_latency, messages_library,
               messages_snapshot, overload, pg_create, pg_existing, sqlite_create, sqlite_existing,
               usage_window)

ROWS = [sqlite_existing, sqlite_create, pg_create, pg_existing, usage_window, leases_pg, leases_sqlite,
        leases_handover, leases_held, leases_loss, messages_library, messages_http, messages_latency,
        messages_growth, messages_snapshot, idle, growth_history, growth_live, overload, authentication]
