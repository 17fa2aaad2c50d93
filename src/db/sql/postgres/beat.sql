-- A process is there, and its writes are committed. Each process has a row of its own, so none waits for another one.
-- Parameters: $1 process, $2 now_ms
-- Lock order: this row only
insert into tenure.processes (process, seen_ms) values ($1::text, $2::bigint)
on conflict (process) do update set seen_ms = excluded.seen_ms
