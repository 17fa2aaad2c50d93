-- Deletes tasks of users that nobody has offered to run for long: their next run was due before $1, none was begun since
-- then, and none is under way. A claim at this moment writes the whole row again.
-- Parameters: $1 due before, $2 limit. Result: a row for each
-- Lock order: tasks, FOR UPDATE SKIP LOCKED, never waiting
with unused as (
  select t.tenant, t.name from tenure.tasks t
   where t.tenant <> '' and greatest(t.next_ms, t.not_before_ms, t.last_started_ms, t.last_finished_ms) <= $1
     and not exists (select from tenure.leases l
                      where l.tenant = t.tenant and l.name = 'task/' || t.name and l.term is not null
                        and l.expires_ms > $1)
   order by t.tenant, t.name limit $2 for update of t skip locked)
delete from tenure.tasks t using unused where t.tenant = unused.tenant and t.name = unused.name returning 1
