-- The first ready messages of lines, locked for this transaction; those that another transaction has locked are passed
-- over, so nobody waits. Of a paused topic there are none. Large payloads are left for load_payloads.sql.
-- Parameters: $1 tenant[], $2 topic[], $3 line[], $4 from_pos[] (low-water mark, topic_cache.hpp), $5 want[]
-- Result: ordinal, id, place, pos, fence, bytes of the payload, payload_kind, payload (null: large), attempts, crashes,
-- enqueued_ms, due_ms, correlation_id, headers, trace
-- Lock order: messages FOR UPDATE SKIP LOCKED, never waiting
select item.ordinal, m.*
  from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) with ordinality
       as item (tenant, topic, line, from_pos, want, ordinal)
  join tenure.topics t on t.tenant = item.tenant and t.name = item.topic and t.paused_ms = 0
 cross join lateral (
       select c.id, c.ctid, c.pos, c.fence, octet_length(c.payload), c.payload_kind,
              case when octet_length(c.payload) <= 4096 then c.payload end, c.attempts, c.crashes, c.enqueued_ms,
              c.due_ms, c.correlation_id, c.headers, c.trace
         from tenure.messages c
        where c.topic_id = t.topic_id and c.line = item.line::smallint and c.pos > 0 and c.pos >= item.from_pos
          and c.lease_until_ms = 0
        order by c.pos
        limit item.want
          for update skip locked) as m
