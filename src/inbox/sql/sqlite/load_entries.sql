-- One entry and the floor of its tenant. ?1 tenant, ?2 source, ?3 message_id
-- Result: state, fence, term, hash, lease_until_ms, not_before_ms, attempts, crashes, result, error, received_ms,
-- updated_ms, floor; state 0 for a message that is new
select coalesce(i.state, 0), coalesce(i.fence, 0), i.term, i.hash, coalesce(i.lease_until_ms, 0),
       coalesce(i.not_before_ms, 0), coalesce(i.attempts, 0), coalesce(i.crashes, 0), i.result, i.error,
       coalesce(i.received_ms, 0), coalesce(i.updated_ms, 0),
       coalesce((select f.fence from inbox_floors f where f.tenant = ?1), 0)
  from (select 1) left join inbox i on i.tenant = ?1 and i.source = ?2 and i.message_id = ?3
