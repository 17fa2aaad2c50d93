-- A page of organisations in the order of their ids. Parameters: $1 id ('': any), $2 the id behind which it begins, $3 how
-- many at most
-- Result: id, name, contact_email, metadata, created_ms
-- Locks: none
select id, name, contact_email, metadata, created_ms
  from tenure.organizations
 where ($1::text = '' or id = $1::text) and id > $2::text
 order by id
 limit $3::bigint
