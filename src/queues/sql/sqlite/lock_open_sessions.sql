-- Makes the row of a session that has none, with `next` 0. ?1 session_id, ?2 queue_id, ?3 generation, ?4 key, ?5 name,
-- ?6 entity, ?7 share
insert into queue_sessions (session_id, queue_id, generation, key, name, entity, share, next, head, fence, state, consumer,
                            lease_until_ms, lease_ms, turn_ms, turn_count, handed, attempts, position, due_ms, not_before_ms,
                            reserved_for, reserved_until_ms, parked_ms, reason, error, error_class, accept_id, ended, ttl_free,
                            created_ms, activity_ms)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, 0, 0, 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, '', 0, 0, 0, '', '', null, 0, 0, 0, 0)
on conflict (session_id) do nothing
