-- Removes the oldest events that no message refers to: none of an ordered queue, none of a topic, and no dead letter of
-- either. ?1 received before this ms, ?2 how many at most. Result: event_id
delete from webhook_events
 where number in (select e.number from webhook_events e
                   where e.received_ms < ?1
                     and not exists (select 1 from queue_messages m where m.event_id = e.event_id)
                     and not exists (select 1 from webhook_references r
                                      where r.event_id = e.event_id
                                        and (exists (select 1 from messages m where m.id = r.message_id)
                                             or exists (select 1 from dead_letters d where d.id = r.message_id)))
                   order by e.received_ms limit ?2)
returning event_id
