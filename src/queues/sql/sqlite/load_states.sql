-- What a consumer keeps with a session. ?1 session_id. Result: state, fence, written_ms
select state, fence, written_ms from queue_session_states where session_id = ?1
