-- Claims the names of a batch's idempotent requests: whoever inserts the row carries the request out. A name that
-- another transaction has claimed and not committed is waited for; then it is there, and this one replays its answer.
-- Parameters: $1 name[], $2 body_hash[]; each name once; $3 now_ms
-- Result: name of each that was claimed here; the others are read in the next statement (this one does not see them)
-- Lock order: names ascending, before any lock of a capability
insert into tenure.answers (name, body_hash, kept_ms)
select name, body_hash, $3::bigint
  from unnest($1::text[], $2::text[]) as item (name, body_hash)
 order by name
on conflict (name) do nothing
returning name
