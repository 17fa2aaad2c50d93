-- A session that nobody uses: idle, without a state, without messages. ?1 session_id, ?2 unused since
-- Result: queue_id, fence, next, if it is gone
delete from queue_sessions
 where session_id = ?1 and state = 0 and next = head and next > 0 and activity_ms <= ?2
   and not exists (select 1 from queue_session_states t where t.session_id = ?1)
   and not exists (select 1 from queue_messages m where m.session_id = ?1)
returning queue_id, fence, next
