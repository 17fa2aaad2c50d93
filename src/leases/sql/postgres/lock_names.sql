-- Locks the names of a batch, whether or not they were ever granted. A new name gets its row here, and the insert is
-- its lock; for a known name the upsert locks the row and, because of "where false", writes nothing. The lock is that
-- of an update that leaves the keys alone (FOR NO KEY UPDATE): a user's transaction that called check_fence does not
-- hold it up.
-- Parameters: $1 tenant[], $2 name[]; each name once
-- Lock order: leases in ascending (tenant, name), in this one statement; tickets, history, floors and the store's row
-- come after it. Every transaction that changes a lease takes all its name locks here, so two cannot deadlock
-- (of two that insert a name at the same moment, see the order of the table's indexes in its migration).
insert into tenure.leases (tenant, name, fence, holder, metadata, ttl_ms, granted_ms, renewed_ms, expires_ms, next_ticket)
select tenant, name, 0, '', '', 0, 0, 0, 0, 1
  from unnest($1::text[], $2::text[]) as item (tenant, name)
 order by tenant collate "C", name collate "C"
on conflict (tenant, name) do update set holder = excluded.holder where false
