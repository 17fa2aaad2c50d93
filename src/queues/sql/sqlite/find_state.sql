-- What a consumer keeps with a session. ?1 tenant, ?2 queue, ?3 session_id. Result: state (null: none), fence, written_ms
select t.state, coalesce(t.fence, 0), coalesce(t.written_ms, 0)
  from queues q
  join queue_sessions s on s.queue_id = q.queue_id and s.session_id = ?3
  left join queue_session_states t on t.session_id = s.session_id
 where q.tenant = ?1 and q.name = ?2
