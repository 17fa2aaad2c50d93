-- Removes the oldest events that no message of an ordered queue refers to. ?1 received before this ms, ?2 how many at most. Result: event_id
delete from webhook_events
 where number in (select e.number from webhook_events e
                   where e.received_ms < ?1
                     and not exists (select 1 from queue_messages m where m.event_id = e.event_id)
                   order by e.received_ms limit ?2)
returning event_id
