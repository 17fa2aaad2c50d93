-- The rows of a batch's tasks. Under the locks of their leases it is what a transaction decides on; without them it is
-- a look (an offer for a task that is not due must not write).
-- Parameters: $1 tenant[], $2 name[]; each once
-- Result: ordinal, interval_ms, next_ms, not_before_ms, asked_ms, last_nominal_ms, last_started_ms, last_finished_ms,
-- last_error, failures, runs, skipped; no row for a new task
-- Locks: none
select item.ordinal, t.interval_ms, t.next_ms, t.not_before_ms, t.asked_ms, t.last_nominal_ms, t.last_started_ms,
       t.last_finished_ms, t.last_error, t.failures, t.runs, t.skipped
  from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
  join tenure.tasks t on t.tenant = item.tenant and t.name = item.name
