-- Letters that were replayed long ago. Parameters: $1 replayed before, $2 limit. Result: a row for each
with old as (select session_id, sequence from tenure.queue_dead where replayed_ms > 0 and replayed_ms <= $1::bigint
              order by replayed_ms limit $2::bigint for update skip locked)
delete from tenure.queue_dead d using old where d.session_id = old.session_id and d.sequence = old.sequence returning 1
