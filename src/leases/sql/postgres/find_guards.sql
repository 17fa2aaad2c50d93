-- Whose transactions have checked the fence of these names and are still open: their row locks keep the fence from moving
-- (tenure.check_fence). A row lock is seen only in the row's xmax, which is a transaction or a number that stands for
-- several; which of the two, nothing tells, so both are tried. The transaction may be a subtransaction. While it is open it
-- has a lock of its own in pg_locks, which everybody may read; after RELEASE SAVEPOINT it has none, and then the only other
-- process that has locked rows of the table is the one. A transaction that was prepared (pg_prepared_xacts) has no process.
-- Parameters: $1 tenant[], $2 name[]; each once
-- Result: ordinal, pid (null: none, or not known), user (null: not known), since when in milliseconds (null: another
-- role's, which this one may not see); the oldest first
-- Locks: none
select locker.ordinal, coalesce(own.pid, the_only.pid), coalesce(a.usename, p.owner)::text,
       floor(extract(epoch from coalesce(a.xact_start, p.prepared)) * 1000)::bigint
  from (select item.ordinal, each.xid, pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next
          from unnest($1::text[], $2::text[]) with ordinality as item (tenant, name, ordinal)
          join tenure.leases l on l.tenant = any (array[item.tenant]) and l.name = item.name
         cross join lateral (
           select l.xmax
           union all
           select member.xid
             from pg_get_multixact_members(case when mxid_age(l.xmax) between 1 and (select max(mxid_age(datminmxid)) from pg_database)
                                                then l.xmax end) as member) as each (xid)
         where l.xmax::text <> '0') as locker
 cross join lateral (
   -- With its epoch: that of the next transaction, or the one before.
   select case when age(locker.xid) > 0
               then locker.next - locker.next % 4294967296 + locker.xid::text::bigint
                    - case when locker.xid::text::bigint > locker.next % 4294967296 + 2147483648 then 4294967296 else 0 end
          end) as whole (xid)
  left join pg_locks own on own.locktype = 'transactionid' and own.mode = 'ExclusiveLock' and own.granted
                        and own.transactionid = locker.xid
  left join pg_prepared_xacts p on p.transaction = locker.xid
  left join lateral (
    select min(k.pid) as pid
      from pg_locks k join pg_stat_activity b on b.pid = k.pid
     where own.locktype is null and k.locktype = 'relation' and k.relation = 'tenure.leases'::regclass
       and k.mode = 'RowShareLock' and k.granted and b.datname = current_database() and b.application_name <> 'tenure'
    having count(*) = 1) as the_only on true
  left join pg_stat_activity a on a.pid = coalesce(own.pid, the_only.pid)
 where coalesce(a.application_name, '') <> 'tenure'
   and (own.locktype is not null
        or pg_xact_status(case when whole.xid > 2 then whole.xid::text::xid8 end) = 'in progress')
 order by coalesce(a.xact_start, p.prepared)
