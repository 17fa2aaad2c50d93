-- Removes the oldest events. ?1 received before this ms, ?2 how many at most. Result: event_id
delete from webhook_events
 where number in (select number from webhook_events where received_ms < ?1 order by received_ms limit ?2)
returning event_id
