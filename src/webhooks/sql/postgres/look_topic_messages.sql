-- Where messages of topics are. Parameters: $1 message_id[]
-- Result: ordinal, 0 waiting, 1 claimed, 2 dead, 3 done
-- Locks: none
select item.ordinal,
       case when m.id is not null then (m.lease_until_ms > 0)::integer::bigint when d.id is not null then 2 else 3 end
  from unnest($1::uuid[]) with ordinality as item (id, ordinal)
  left join tenure.messages m on m.id = item.id
  left join tenure.dead_letters d on d.id = item.id
