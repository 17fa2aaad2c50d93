-- Writes sessions as they are now. `name` and `entity` change too: a repository is renamed.
-- Parameters: the columns in this order, as arrays; each id once; accept_id: the nil UUID for none
-- Lock order: under the locks that were taken before
update tenure.queue_sessions s
   set name = item.name, entity = item.entity,
       next = item.next, head = item.head, fence = item.fence, state = item.state, consumer = item.consumer,
       lease_until_ms = item.lease_until_ms, lease_ms = item.lease_ms, turn_ms = item.turn_ms,
       turn_count = item.turn_count, handed = item.handed, attempts = item.attempts, position = item.position,
       due_ms = item.due_ms, not_before_ms = item.not_before_ms, reserved_for = item.reserved_for,
       reserved_until_ms = item.reserved_until_ms, parked_ms = item.parked_ms, reason = item.reason,
       error = item.error, error_class = item.error_class,
       accept_id = nullif(item.accept_id, '00000000-0000-0000-0000-000000000000'), ended = item.ended,
       ttl_free = item.ttl_free, created_ms = item.created_ms, activity_ms = item.activity_ms
  from unnest($1::uuid[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::text[],
              $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[], $14::bigint[], $15::bigint[],
              $16::bigint[], $17::bigint[], $18::text[], $19::bigint[], $20::bigint[], $21::bigint[], $22::text[],
              $23::text[], $24::uuid[], $25::bigint[], $26::bigint[], $27::bigint[], $28::bigint[])
       as item (session_id, name, entity, next, head, fence, state, consumer, lease_until_ms, lease_ms, turn_ms,
                turn_count, handed, attempts, position, due_ms, not_before_ms, reserved_for, reserved_until_ms,
                parked_ms, reason, error, error_class, accept_id, ended, ttl_free, created_ms, activity_ms)
 where s.session_id = any (array[item.session_id])
