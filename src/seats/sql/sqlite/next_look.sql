-- When the next deadline of a licence passes. ?1 id, ?2 now_ms. Result: look_ms
select l.look_ms from licenses l where l.id = ?1 and l.look_ms > ?2
