-- Single records that the receiver refuses. Parameters: ?1 number, ?2 chunk, ?3 answer, ?4 now_ms; each once
-- Lock order: usage_chunks ascending
update usage_chunks set refused_ms = ?4, answer = ?3 where number = ?1 and chunk = ?2
