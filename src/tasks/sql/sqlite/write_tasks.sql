-- Writes the row of a task. ?1 tenant, ?2 name, ?3 interval_ms, ?4 next_ms, ?5 not_before_ms, ?6 asked_ms,
-- ?7 last_nominal_ms, ?8 last_started_ms, ?9 last_finished_ms, ?10 last_error, ?11 failures, ?12 runs, ?13 skipped
insert into tasks (tenant, name, interval_ms, next_ms, not_before_ms, asked_ms, last_nominal_ms, last_started_ms,
                   last_finished_ms, last_error, failures, runs, skipped)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
on conflict (tenant, name) do update
   set interval_ms = excluded.interval_ms, next_ms = excluded.next_ms, not_before_ms = excluded.not_before_ms,
       asked_ms = excluded.asked_ms, last_nominal_ms = excluded.last_nominal_ms,
       last_started_ms = excluded.last_started_ms, last_finished_ms = excluded.last_finished_ms,
       last_error = excluded.last_error, failures = excluded.failures, runs = excluded.runs, skipped = excluded.skipped
