-- What an accept leaves behind, after it wrote. ?1 queue_id, ?2 generation, ?3 now_ms
-- Result: 1: one may be taken, the next time that somebody must look (null: never)
select (exists (select 1 from queue_sessions s where s.queue_id = ?1 and s.generation = ?2 and s.position > 0)
        or exists (select 1 from queue_sessions s where s.queue_id = ?1 and s.due_ms > 0 and s.due_ms <= ?3)),
       (select s.due_ms from queue_sessions s
         where s.queue_id = ?1 and s.due_ms > 0 and s.due_ms > ?3 order by s.due_ms limit 1)
