-- Deletes tasks of users that nobody has offered to run for long: their next run was due before ?1, none was begun since
-- then, and none is under way. ?1 due before, ?2 limit. Result: a row for each
delete from tasks
 where (tenant, name) in (
       select t.tenant, t.name from tasks t
        where t.tenant <> '' and max(t.next_ms, t.not_before_ms, t.last_started_ms, t.last_finished_ms) <= ?1
          and not exists (select 1 from leases l
                           where l.tenant = t.tenant and l.name = 'task/' || t.name and l.term is not null
                             and l.expires_ms > ?1)
        limit ?2)
returning 1
