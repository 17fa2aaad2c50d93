-- Adds what this transaction changed: one row of each generation, chosen by the connection, so that few wait for each
-- other. The bytes of what left a session are looked up here.
-- Parameters: one row per session, $1 queue_id[], $2 generation[], $3 session_id[], $4 the first sequence that left[],
-- $5 the first that did not[], $6 messages[], $7 bytes that came[], $8 ready[], $9 held[], $10 parked[]
-- Lock order: last; ascending (queue_id, generation), of one lane
with changed as (
  select item.queue_id, item.generation, sum(item.messages) as messages, sum(item.ready) as ready, sum(item.held) as held,
         sum(item.parked) as parked,
         sum(item.came) - sum(case when item.past > item.first
                                   then (select coalesce(sum(m.bytes), 0) from tenure.queue_messages m
                                          where m.session_id = item.session_id and m.sequence >= item.first
                                            and m.sequence < item.past) else 0 end) as bytes
    from unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
                $9::bigint[], $10::bigint[])
         as item (queue_id, generation, session_id, first, past, messages, came, ready, held, parked)
   group by item.queue_id, item.generation)
insert into tenure.queue_counters as c (queue_id, generation, lane, messages, bytes, ready, held, parked)
select queue_id, generation, pg_backend_pid() % 16, messages, bytes, ready, held, parked from changed
 order by queue_id, generation
on conflict (queue_id, generation, lane) do update
   set messages = c.messages + excluded.messages, bytes = c.bytes + excluded.bytes, ready = c.ready + excluded.ready,
       held = c.held + excluded.held, parked = c.parked + excluded.parked
