-- Places tickets, or refreshes those that stand already (their numbers stay).
-- Parameters: $1 tenant[], $2 name[], $3 number[], $4 term[], $5 process[], $6 expires_ms[]; each term of a name once
-- Lock order: under the locks of lock_names.sql; a refresh (refresh_tickets.sql) skips rows that are locked, so this
-- waits for it at most as long as one statement
insert into tenure.lease_tickets (tenant, name, number, term, process, expires_ms)
select * from unnest($1::text[], $2::text[], $3::bigint[], $4::uuid[], $5::text[], $6::bigint[])
on conflict (tenant, name, term) do update set expires_ms = excluded.expires_ms, process = excluded.process
