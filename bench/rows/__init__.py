"""The rows, in the order of spec 90. A row is a module with NAME, a first line of documentation and
measure(bench), which returns figures."""

from . import (growth_history, growth_live, idle, leases_handover, leases_held, leases_loss, leases_pg,
               leases_sqlite, overload, pg_create, pg_existing, sqlite_create, sqlite_existing)

ROWS = [sqlite_existing, sqlite_create, pg_create, pg_existing, leases_pg, leases_sqlite,
        leases_handover, leases_held, leases_loss, idle, growth_history, growth_live, overload]
