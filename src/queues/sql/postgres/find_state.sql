-- What a consumer keeps with a session: what a user's transaction completed with, if nobody has looked at the session since.
-- Parameters: $1 tenant, $2 queue, $3 session_id. Result: state (null: none), fence, written_ms
-- Locks: none
select case when m.session_id is null then t.state else m.state end,
       coalesce(case when m.session_id is null then t.fence else m.fence end, 0),
       coalesce(case when m.session_id is null then t.written_ms else m.marked_ms end, 0)
  from tenure.queues q
  join tenure.queue_sessions s on s.queue_id = q.queue_id and s.session_id = $3::uuid
  left join tenure.queue_session_states t on t.session_id = s.session_id
  left join tenure.queue_marks m on m.session_id = s.session_id and m.fence = s.fence and m.sequence >= s.head and m.state is not null
 where q.tenant = $1::text and q.name = $2::text
