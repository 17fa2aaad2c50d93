-- Takes a message out of the hands it is in: ready again, at the end of its line, or waiting for due_ms.
-- ?1 id, ?2 line, ?3 due_ms, ?4 attempts, ?5 crashes, ?6 error, ?7 now_ms
update messages
   set line = ?2, pos = case when ?3 <= ?7 then ?7 else 0 end, due_ms = ?3, lease_until_ms = 0, attempts = ?4,
       crashes = ?5, error = ?6
 where id = ?1
