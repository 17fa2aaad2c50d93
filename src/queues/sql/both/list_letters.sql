-- Messages that could not be processed: parked ones, in the way of their sessions, and those that were passed over, in the order
-- of their deaths.
-- Parameters: $1 tenant, $2 queue, $3 of which (0 both, 1 parked, 2 passed over), $4 reason (-1: any), $5 error_class ('': any),
-- $6 1: of one session, $7 session_id, $8 entity ('': any), $9 since, $10 time, $11 session_id and $12 sequence behind which the page
-- begins, $13 how many at most
-- Result: dead_ms, session_id, sequence, 1: it is parked, key, name, entity, generation, id, reason, attempts, error, error_class,
-- replayed_ms, messages behind it that wait, bytes
-- Locks: none
select * from (
  select * from (
    select s.parked_ms as dead_ms, s.session_id as session_id, s.head as sequence, 1 as parked, s.key, s.name, s.entity, s.generation,
           m.id, s.reason, s.attempts, s.error, s.error_class, 0 as replayed_ms, s.next - s.head - 1 as followers, m.bytes
      from tenure.queues q
      join tenure.queue_sessions s on s.queue_id = q.queue_id and s.state = 3
      join tenure.queue_messages m on m.session_id = s.session_id and m.sequence = s.head
     where q.tenant = $1::text and q.name = $2::text and $3::bigint <> 2
       and ($4::bigint < 0 or s.reason = $4::bigint) and ($5::text = '' or s.error_class = $5::text)
       and ($6::bigint = 0 or s.session_id = $7::uuid) and ($8::text = '' or s.entity = $8::text) and s.parked_ms >= $9::bigint
       and (s.parked_ms, s.session_id, s.head) > ($10::bigint, $11::uuid, $12::bigint)
     order by s.parked_ms, s.session_id, s.head limit $13::bigint) as parked
  union all
  select * from (
    select d.dead_ms, d.session_id, d.sequence, 0, s.key, s.name, s.entity, s.generation, d.id, d.reason, d.attempts, d.error,
           d.error_class, d.replayed_ms, s.next - s.head, m.bytes
      from tenure.queues q
      join tenure.queue_dead d on d.queue_id = q.queue_id
      join tenure.queue_sessions s on s.session_id = d.session_id
      join tenure.queue_messages m on m.session_id = d.session_id and m.sequence = d.sequence
     where q.tenant = $1::text and q.name = $2::text and $3::bigint <> 1
       and ($4::bigint < 0 or d.reason = $4::bigint) and ($5::text = '' or d.error_class = $5::text)
       and ($6::bigint = 0 or d.session_id = $7::uuid) and ($8::text = '' or s.entity = $8::text) and d.dead_ms >= $9::bigint
       and (d.dead_ms, d.session_id, d.sequence) > ($10::bigint, $11::uuid, $12::bigint)
     order by d.dead_ms, d.session_id, d.sequence limit $13::bigint) as passed) as letters
 order by dead_ms, session_id, sequence
 limit $13::bigint
