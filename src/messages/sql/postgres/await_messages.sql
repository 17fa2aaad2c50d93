-- Locks messages, and waits for whoever has them: for settlements that were passed over (settler.hpp).
-- Parameters: $1 id[], $2 tenant[]; each id once
-- Result: none
-- Lock order: messages in ascending id, FOR UPDATE; each waited for as long as lock_timeout says
select
  from unnest($1::uuid[], $2::text[]) as item (id, tenant)
  join tenure.messages m on m.id = any (array[item.id])
  join tenure.topics t on t.topic_id = m.topic_id and t.tenant = item.tenant
 order by item.id
   for update of m
