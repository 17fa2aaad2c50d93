-- Subscriptions of all tenants of which something is sealed by another key than the first, behind one of them.
-- Parameters: $1 tenant, $2 name behind which it begins, $3 what the first key's seals begin with, $4 how many at most
-- Result: tenant, name
-- Locks: none
select tenant, name
  from tenure.subscriptions
 where (tenant, name) > ($1::text, $2::text)
   and (substr(secrets, 1, length($3::text)) <> $3::text
        or (headers <> '' and substr(headers, 1, length($3::text)) <> $3::text))
 order by tenant, name
 limit $4::bigint
