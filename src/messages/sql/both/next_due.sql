-- When the first of those that wait for their time is due, of those that are due after a time.
-- Parameters: $1 after_ms
-- Result: due_ms; no row when nothing waits
select due_ms from tenure.messages where pos = 0 and due_ms > $1 order by due_ms limit 1
