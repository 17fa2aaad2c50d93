-- When the next deadline of these licences passes. Parameters: $1 id[]; each once; $2 now_ms
-- Result: look_ms (null: none does)
-- Locks: none
select min(l.look_ms) from tenure.licenses l where l.id = any ($1::uuid[]) and l.look_ms > $2::bigint
