-- The row of a task. ?1 tenant, ?2 name
-- Result: interval_ms, next_ms, not_before_ms, asked_ms, last_nominal_ms, last_started_ms, last_finished_ms, last_error,
-- failures, runs, skipped; no row for a new task
select interval_ms, next_ms, not_before_ms, asked_ms, last_nominal_ms, last_started_ms, last_finished_ms, last_error,
       failures, runs, skipped
  from tasks where tenant = ?1 and name = ?2
