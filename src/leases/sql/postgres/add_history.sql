-- Notes grants that are over.
-- Parameters: $1 tenant[], $2 name[], $3 fence[], $4 term[], $5 holder[], $6 granted_ms[], $7 ended_ms[], $8 reason[],
-- $9 detail[]
-- Lock order: under the locks of lock_names.sql
insert into tenure.lease_history (tenant, name, fence, term, holder, granted_ms, ended_ms, reason, detail)
select * from unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[], $5::text[], $6::bigint[], $7::bigint[],
                     $8::bigint[], $9::text[])
