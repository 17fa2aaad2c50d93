-- How much waits in a topic. Parameters: $1 tenant, $2 topic. Result: bytes of payloads
-- Locks: none
select coalesce(sum(length(m.payload)), 0)::bigint
  from tenure.topics t join tenure.messages m on m.topic_id = t.topic_id
 where t.tenant = $1::text and t.name = $2::text
