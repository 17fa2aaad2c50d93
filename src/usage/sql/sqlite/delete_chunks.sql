-- Chunks that were acknowledged, or are divided. Parameters: ?1 number, ?2 chunk; each once, ascending
-- Result: number, where it was there
-- Lock order: usage_chunks ascending
delete from usage_chunks where number = ?1 and chunk = ?2 returning number
