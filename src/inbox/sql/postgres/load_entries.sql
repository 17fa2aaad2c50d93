-- The entries of a batch as they are committed, and the floor of each tenant; locked or not. In a transaction that
-- changes them it runs after the locks, as a statement of its own, so that it sees what was committed while they were
-- waited for.
-- Parameters: $1 tenant[], $2 source[], $3 message_id[]; each once
-- Result: ordinal, state, fence, term, hash, lease_until_ms, not_before_ms, attempts, crashes, result, error,
-- received_ms, updated_ms, floor; one row per item: state 0 for a message that is new
-- Locks: none
select item.ordinal, coalesce(i.state, 0), coalesce(i.fence, 0), i.term, i.hash, coalesce(i.lease_until_ms, 0),
       coalesce(i.not_before_ms, 0), coalesce(i.attempts, 0), coalesce(i.crashes, 0), i.result, i.error,
       coalesce(i.received_ms, 0), coalesce(i.updated_ms, 0), coalesce(f.fence, 0)
  from unnest($1::text[], $2::text[], $3::text[]) with ordinality as item (tenant, source, message_id, ordinal)
  left join tenure.inbox i on i.tenant = any (array[item.tenant]) and i.source = item.source
                            and i.message_id = item.message_id
  left join tenure.inbox_floors f on f.tenant = item.tenant
