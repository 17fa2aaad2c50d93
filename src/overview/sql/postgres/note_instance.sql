-- Writes that a process is there
-- Parameters: $1 instance, $2 version, $3 host, $4 started_ms, $5 seen_ms, $6 left_ms (0: it is there), $7 workers (0 or 1),
-- $8 requests_per_1000s, $9 clock_gap_ms, $10 lanes
-- Locks: the row of that process, which nobody else writes
insert into tenure.instances (instance, version, host, started_ms, seen_ms, left_ms, workers, requests_per_1000s, clock_gap_ms, lanes)
values ($1::text, $2::text, $3::text, $4::bigint, $5::bigint, $6::bigint, $7::bigint, $8::bigint, $9::bigint, $10::bigint)
on conflict (instance) do update
   set version = excluded.version, host = excluded.host, started_ms = excluded.started_ms, seen_ms = excluded.seen_ms,
       left_ms = excluded.left_ms, workers = excluded.workers, requests_per_1000s = excluded.requests_per_1000s,
       clock_gap_ms = excluded.clock_gap_ms, lanes = excluded.lanes
