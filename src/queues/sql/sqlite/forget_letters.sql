-- Letters that were replayed long ago. ?1 replayed before, ?2 limit. Result: a row for each
delete from queue_dead
 where (session_id, sequence) in (select session_id, sequence from queue_dead where replayed_ms > 0 and replayed_ms <= ?1
                                   order by replayed_ms limit ?2) returning 1
