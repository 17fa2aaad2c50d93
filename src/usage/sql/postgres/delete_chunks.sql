-- Chunks that were acknowledged, or are divided. Parameters: $1 number[], $2 chunk[]; each once, ascending
-- Result: ordinal of each that was there
-- Lock order: usage_chunks ascending
delete from tenure.usage_chunks c
 using unnest($1::bigint[], $2::text[]) with ordinality as item (number, chunk, ordinal)
 where c.number = item.number and c.chunk = item.chunk
returning item.ordinal
