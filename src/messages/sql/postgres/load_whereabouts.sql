-- What became of messages. Parameters: $1 id[], $2 tenant[]; each id once
-- Result: ordinal, fence, lease_until_ms of one that lives (-1: it is dead), reason (of one that is dead)
-- Locks: none
select item.ordinal, m.fence, m.lease_until_ms, 0
  from unnest($1::uuid[], $2::text[]) with ordinality as item (id, tenant, ordinal)
  join tenure.messages m on m.id = any (array[item.id])
  join tenure.topics t on t.topic_id = m.topic_id and t.tenant = item.tenant
union all
select item.ordinal, d.fence, -1, d.reason
  from unnest($1::uuid[], $2::text[]) with ordinality as item (id, tenant, ordinal)
  join tenure.dead_letters d on d.id = any (array[item.id]) and d.tenant = any (array[item.tenant])
                            and d.redriven_ms < 1
