-- Chunks that are not acknowledged, each with its window. Parameters: ?1 number, ?2 chunk
-- Result: first_id, last_id, records, format, refused_ms, start_ms, end_ms, incarnation; no row where it is
-- Locks: none
select c.first_id, c.last_id, c.records, c.format, c.refused_ms, w.start_ms, w.end_ms, w.incarnation
  from usage_chunks c join usage_windows w on w.number = c.number
 where c.number = ?1 and c.chunk = ?2
