-- Pauses a queue, or lets it go on. Parameters: $1 queue_id, $2 paused_ms (0: it goes on), $3 reason
-- Lock order: this row, after sessions; whoever holds it takes nothing else but counters
update tenure.queues set paused_ms = $2::bigint, paused_reason = $3::text where queue_id = $1::bigint
