-- When the first of those that wait for their time is due. Result: due_ms; no row when nothing waits
select due_ms from messages where pos = 0 order by due_ms limit 1
