-- What a consumer keeps with its session. Parameters: $1 session_id, $2 state, $3 fence, $4 now_ms
-- Lock order: under the lock of the session
insert into tenure.queue_session_states (session_id, state, fence, written_ms)
values ($1::uuid, $2::bytea, $3::bigint, $4::bigint)
on conflict (session_id) do update set state = excluded.state, fence = excluded.fence, written_ms = excluded.written_ms
