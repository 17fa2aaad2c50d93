-- Single records that the receiver refuses. Parameters: $1 number[], $2 chunk[], $3 answer[], $4 now_ms; each once
-- Lock order: usage_chunks ascending
update tenure.usage_chunks c set refused_ms = $4::bigint, answer = item.answer
  from unnest($1::bigint[], $2::text[], $3::text[]) as item (number, chunk, answer)
 where c.number = item.number and c.chunk = item.chunk
