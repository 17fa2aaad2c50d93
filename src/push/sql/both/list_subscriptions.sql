-- A page of a tenant's subscriptions in the order of their names. Parameters: $1 tenant, $2 the name behind which it
-- begins, $3 how many at most
-- Result: the columns of tenure.subscriptions in their order; holder, fence, expires_ms of the lease of whoever delivers
-- Locks: none
select s.tenant, s.name, s.id, s.topic, s.url, s.max_in_flight, s.timeout_ms, s.format, s.enabled, s.gone_ms, s.header_names,
       s.secrets, s.headers, s.revision, s.created_ms, s.updated_ms, s.failures, s.next_ms, s.last_status, s.last_error,
       s.last_ms, s.delivered, s.failed, coalesce(l.holder, ''), coalesce(l.fence, 0), coalesce(l.expires_ms, 0)
  from tenure.subscriptions s
  left join tenure.leases l on l.tenant = s.tenant and l.name = 'push/' || s.name and l.term is not null
 where s.tenant = $1::text and s.name > $2::text
 order by s.name
 limit $3::bigint
