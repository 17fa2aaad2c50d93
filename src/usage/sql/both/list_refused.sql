-- Records that the receiver refuses. Parameters: $1 window and $2 chunk of the last one of the page before, $3 how many
-- Result: number, chunk, session id, refused_ms, answer
-- Locks: none
select number, chunk, first_id, refused_ms, answer
  from tenure.usage_chunks
 where refused_ms > 0 and (number, chunk) > ($1::bigint, $2::text)
 order by number, chunk limit $3::bigint
