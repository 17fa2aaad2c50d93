-- Removes the oldest events that no message refers to: none of an ordered queue, none of a topic, and no dead letter of
-- either.
-- Parameters: $1 received before this ms, $2 how many at most. Result: event_id
-- Lock order: webhook_events with SKIP LOCKED: it waits for nobody
with old as (
  select ctid from tenure.webhook_events e
   where received_ms < $1::bigint
     and not exists (select 1 from tenure.queue_messages m where m.event_id = e.event_id)
     and not exists (select 1 from tenure.webhook_references r
                      where r.event_id = e.event_id
                        and (exists (select 1 from tenure.messages m where m.id = r.message_id)
                             or exists (select 1 from tenure.dead_letters d where d.id = r.message_id)))
   order by received_ms limit $2::bigint for update skip locked
)
delete from tenure.webhook_events e where e.ctid = any (array(select ctid from old)) returning e.event_id
