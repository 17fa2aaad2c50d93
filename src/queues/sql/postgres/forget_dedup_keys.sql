-- Dedup keys whose time is over. One that is in use at this moment is passed over. Parameters: $1 now_ms, $2 limit
-- Result: a row for each
with old as (select queue_id, dedup_key from tenure.queue_keys where expires_ms <= $1::bigint order by expires_ms limit $2::bigint
             for update skip locked)
delete from tenure.queue_keys k using old where k.queue_id = old.queue_id and k.dedup_key = old.dedup_key returning 1
