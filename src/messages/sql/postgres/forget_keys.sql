-- Dedup keys whose time is over. One that is in use at this moment is passed over. Parameters: $1 now_ms, $2 limit
-- Result: a row for each
with old as (select topic_id, dedup_key from tenure.message_keys where expires_ms <= $1 order by expires_ms limit $2
             for update skip locked)
delete from tenure.message_keys k using old where k.topic_id = old.topic_id and k.dedup_key = old.dedup_key returning 1
