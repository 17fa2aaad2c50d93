-- Chunks that are not acknowledged, each with its window. Parameters: $1 number[], $2 chunk[]
-- Result: ordinal, first_id, last_id, records, format, refused_ms, start_ms, end_ms, incarnation; no row where it is
-- Locks: none
select item.ordinal, c.first_id, c.last_id, c.records, c.format, c.refused_ms, w.start_ms, w.end_ms, w.incarnation
  from unnest($1::bigint[], $2::text[]) with ordinality as item (number, chunk, ordinal)
  join tenure.usage_chunks c on c.number = item.number and c.chunk = item.chunk
  join tenure.usage_windows w on w.number = item.number
