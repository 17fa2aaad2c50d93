-- A page of a tenant's entries in the order of source and message id. Parameters: $1 tenant, $2 source and $3 message id
-- behind which it begins, $4 the last source that may come, $5 state (-1: any), $6 how many at most
-- Result: source, message_id, state, fence, term, hash, lease_until_ms, not_before_ms, attempts, crashes, result, error,
-- received_ms, updated_ms
-- Locks: none
select i.source, i.message_id, i.state, i.fence, i.term, i.hash, i.lease_until_ms, i.not_before_ms, i.attempts,
       i.crashes, i.result, i.error, i.received_ms, i.updated_ms
  from tenure.inbox i
 where i.tenant = $1::text and (i.source, i.message_id) > ($2::text, $3::text) and i.source <= $4::text
   and i.state > 0 and ($5::bigint < 0 or i.state = $5::bigint)
 order by i.source, i.message_id
 limit $6::bigint
