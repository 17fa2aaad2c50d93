-- Dead letters by what they are like; one that somebody else changes at this moment is passed over.
-- Parameters: $1 tenant, $2 topic ('': any), $3 reason (0: any), $4 limit
-- Result: id, topic, whether it is followed
-- Lock order: dead_letters FOR UPDATE SKIP LOCKED, before messages (new rows only)
select d.id, t.name, case when starts_with(d.headers, '{"tenure-job"') then 1 else 0 end
  from tenure.dead_letters d join tenure.topics t on t.topic_id = d.topic_id
 where d.tenant = $1::text and d.redriven_ms = 0
   and ($2::text = '' or t.name = $2::text) and ($3::bigint = 0 or d.reason = $3::bigint)
 order by d.id
 limit $4::bigint
   for update of d skip locked
