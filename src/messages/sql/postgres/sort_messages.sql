-- Moves messages that were put aside to their topics, in the order in which they were sent. One whose dedup key was used
-- within its time goes. Whatever somebody wrote past tenure.put_message stops nobody else's: times are bounded, and one
-- whose id is taken goes.
-- Parameters: $1 seq[], $2 now_ms; each once; their topics and lines are on record (open_topics.sql)
-- Lock order: under the locks of lock_unsorted.sql and open_topics.sql; dedup keys in their order, which may have to wait
-- for a user's transaction
with taken as materialized (
  delete from tenure.unsorted_messages u where u.seq = any ($1::bigint[])
  returning u.seq, u.id, u.tenant, u.topic, u.line, u.due_ms, u.enqueued_ms, u.payload_kind, u.payload, u.correlation_id,
            u.headers, u.trace, u.dedup_key),
placed as materialized (
  select taken.*, t.topic_id, t.dedup_ms
    from (select seq, id, tenant, topic, line, greatest(0, least(due_ms, 253402300799999)) as due_ms, enqueued_ms,
                 payload_kind, payload, correlation_id, headers, trace, dedup_key from taken) as taken
    join tenure.topics t on t.tenant = taken.tenant and t.name = taken.topic),
keyed as (
  insert into tenure.message_keys as known (topic_id, dedup_key, id, expires_ms)
  select distinct on (topic_id, dedup_key) topic_id, dedup_key, id,
         $2::bigint + case dedup_ms when -1 then 600000 else least(dedup_ms, 315360000000) end
    from placed where dedup_key <> ''
   order by topic_id, dedup_key, seq
  on conflict (topic_id, dedup_key) do update set id = excluded.id, expires_ms = excluded.expires_ms
    where known.expires_ms <= $2::bigint
  returning known.id)
insert into tenure.messages (id, topic_id, line, pos, due_ms, enqueued_ms, fence, lease_until_ms, worker, claimed_ms,
                             attempts, crashes, payload_kind, payload, correlation_id, headers, trace, error)
select id, topic_id, line, case when due_ms <= $2 then nextval('tenure.message_positions') else 0 end, due_ms,
       enqueued_ms, 0, 0, 0, 0, 0, 0, payload_kind, payload, correlation_id, headers, trace, ''
  from (select * from placed where dedup_key = '' or id in (select keyed.id from keyed) order by seq) as fresh
on conflict (id) do nothing
