-- How the terms of a batch ended, of those that did. The search is for the first row at or behind (tenant, name, term),
-- because only the index by term has that order. Asked for equality, the planner takes the index by fence where most
-- names have one past grant, and then reads all that a name which changes hands often ever had (31 ms at 50,000).
-- Parameters: $1 tenant[], $2 name[], $3 term[]; each term of a name once
-- Result: ordinal, reason
-- Locks: none; under those of lock_names.sql
select item.ordinal, h.reason
  from unnest($1::text[], $2::text[], $3::uuid[]) with ordinality as item (tenant, name, term, ordinal)
 cross join lateral (select past.tenant, past.name, past.term, past.reason
                       from tenure.lease_history past
                      where (past.tenant, past.name, past.term) >= (item.tenant, item.name, item.term)
                      order by past.tenant, past.name, past.term
                      limit 1) h
 where h.tenant = item.tenant and h.name = item.name and h.term = item.term
