-- Forgets answers that were kept long enough. Parameters: $1 kept before this ms, $2 how many at most. Result: name
-- Lock order: answers with SKIP LOCKED
with old as (
  select name from tenure.answers where kept_ms < $1::bigint order by kept_ms limit $2::bigint for update skip locked
)
delete from tenure.answers a where a.name = any (array(select name from old)) returning a.name
