-- Keeps answers with the effects that they tell of, in one transaction.
-- Parameters: $1 name[], $2 status[], $3 body[], $4 location[]; each name once, claimed by this transaction
update tenure.answers a
   set status = item.status, body = item.body, location = item.location
  from unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) as item (name, status, body, location)
 where a.name = any (array[item.name])
