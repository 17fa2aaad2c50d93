-- Where the line of a share ends, and where the line of all begins. ?1 queue_id, ?2 generation, ?3 share
-- Result: first place of all that are ready, last of the share (0: none is)
select coalesce((select s.position from queue_sessions s
                  where s.queue_id = ?1 and s.generation = ?2 and s.position > 0 order by s.position limit 1), 0),
       coalesce((select s.position from queue_sessions s
                  where s.queue_id = ?1 and s.generation = ?2 and s.share = ?3 and s.position > 0
                  order by s.position desc limit 1), 0)
