-- Takes messages out of the hands they are in: ready again, at the end of its line, or waiting for due_ms.
-- Parameters: $1 id[], $2 line[], $3 due_ms[], $4 attempts[], $5 crashes[], $6 error[], $7 now_ms; each id once
-- Lock order: under the locks of lock_messages.sql
update tenure.messages m
   set line = item.line, pos = case when item.due_ms <= $7 then nextval('tenure.message_positions') else 0 end,
       due_ms = item.due_ms, lease_until_ms = 0, attempts = item.attempts, crashes = item.crashes, error = item.error
  from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[])
       as item (id, line, due_ms, attempts, crashes, error)
 where m.id = any (array[item.id])
