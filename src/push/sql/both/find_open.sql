-- Subscriptions whose circuit is open, of all tenants. Parameters: $1 failures from which on it is, $2 how many at most
-- Result: tenant, name
-- Locks: none
select tenant, name
  from tenure.subscriptions
 where failures >= $1::bigint and enabled = 1 and gone_ms = 0
 order by tenant, name
 limit $2::bigint
