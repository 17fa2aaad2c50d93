-- How the terms of a batch ended, of those that did.
-- Parameters: $1 tenant[], $2 name[], $3 term[]; each term of a name once
-- Result: ordinal, reason
-- Locks: none; under those of lock_names.sql
select item.ordinal, h.reason
  from unnest($1::text[], $2::text[], $3::uuid[]) with ordinality as item (tenant, name, term, ordinal)
  join tenure.lease_history h on h.tenant = item.tenant and h.name = item.name and h.term = item.term
