-- Somebody asks for messages of these topics: to the minute, for people. A row that is locked is left.
-- Parameters: $1 tenant[], $2 name[], $3 now_ms
update tenure.topics t set asked_ms = $3
  from (select k.topic_id from unnest($1::text[], $2::text[]) as item (tenant, name)
          join tenure.topics k on k.tenant = item.tenant and k.name = item.name
         order by k.topic_id for update of k skip locked) as free
 where t.topic_id = free.topic_id
