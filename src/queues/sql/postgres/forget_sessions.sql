-- Sessions that nobody uses: idle, without a state, without messages. Parameters: $1 session_id[], $2 unused since
-- Result: queue_id, fence, next of each that is gone
-- Lock order: under the locks of seize_sessions.sql, in a later statement
with gone as (
  delete from tenure.queue_sessions s
   where s.session_id = any ($1::uuid[]) and s.state = 0 and s.next = s.head and s.next > 0 and s.activity_ms <= $2::bigint
     and not exists (select from tenure.queue_session_states t where t.session_id = s.session_id)
     and not exists (select from tenure.queue_messages m where m.session_id = s.session_id)
  returning s.session_id, s.queue_id, s.fence, s.next),
marks as (delete from tenure.queue_marks k using gone where k.session_id = gone.session_id)
select queue_id, fence, next from gone
