-- Locks sessions, whether or not they are there: a new one gets its row here, with `next` 0. One that is there is not
-- written: the lock is that of an UPDATE of no key, which never waits for a user's transaction (FOR KEY SHARE).
-- Parameters: $1 session_id[], $2 queue_id[], $3 generation[], $4 key[], $5 name[], $6 entity[], $7 share[]; each id once
-- Lock order: sessions, ascending; before the counters
insert into tenure.queue_sessions (session_id, queue_id, generation, key, name, entity, share, next, head, fence, state,
                                   consumer, lease_until_ms, lease_ms, turn_ms, turn_count, handed, attempts, position, due_ms,
                                   not_before_ms, reserved_for, reserved_until_ms, parked_ms, reason, error, error_class,
                                   accept_id, ended, ttl_free, created_ms, activity_ms)
select item.session_id, item.queue_id, item.generation, item.key, item.name, item.entity, item.share, 0, 0, 0, 0, '', 0, 0, 0,
       0, 0, 0, 0, 0, 0, '', 0, 0, 0, '', '', null, 0, 0, 0, 0
  from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[])
       as item (session_id, queue_id, generation, key, name, entity, share)
 order by item.session_id
on conflict (session_id) do update set activity_ms = 0 where false
