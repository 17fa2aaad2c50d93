-- Writes the rows of a batch's tasks.
-- Parameters: $1 tenant[], $2 name[], $3 interval_ms[], $4 next_ms[], $5 not_before_ms[], $6 asked_ms[],
-- $7 last_nominal_ms[], $8 last_started_ms[], $9 last_finished_ms[], $10 last_error[], $11 failures[], $12 runs[],
-- $13 skipped[]; each task once
-- Lock order: under the locks of the tasks' leases (lock_names.sql of leases), which every writer of a task takes
insert into tenure.tasks (tenant, name, interval_ms, next_ms, not_before_ms, asked_ms, last_nominal_ms,
                          last_started_ms, last_finished_ms, last_error, failures, runs, skipped)
select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
                     $8::bigint[], $9::bigint[], $10::text[], $11::bigint[], $12::bigint[], $13::bigint[])
on conflict (tenant, name) do update
   set interval_ms = excluded.interval_ms, next_ms = excluded.next_ms, not_before_ms = excluded.not_before_ms,
       asked_ms = excluded.asked_ms, last_nominal_ms = excluded.last_nominal_ms,
       last_started_ms = excluded.last_started_ms, last_finished_ms = excluded.last_finished_ms,
       last_error = excluded.last_error, failures = excluded.failures, runs = excluded.runs, skipped = excluded.skipped
