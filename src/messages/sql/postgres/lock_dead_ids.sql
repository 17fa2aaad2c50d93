-- Dead letters by their ids; one that somebody else changes at this moment is passed over.
-- Parameters: $1 id[], $2 tenant; each once
-- Result: id, topic, whether it is followed
-- Lock order: dead_letters FOR UPDATE SKIP LOCKED, before messages (new rows only)
select d.id, t.name, case when starts_with(d.headers, '{"tenure-job"') then 1 else 0 end
  from unnest($1::uuid[]) as item (id)
  join tenure.dead_letters d on d.id = any (array[item.id]) and d.tenant = $2::text and d.redriven_ms < 1
  join tenure.topics t on t.topic_id = d.topic_id
 order by item.id
   for update of d skip locked
