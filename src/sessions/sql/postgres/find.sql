-- Sessions by id. Parameters: $1 id[]; each once
-- Result: ordinal, id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason; no row for an unknown id
-- Locks: none
select item.ordinal, s.id, s.tenant, s.user_id, s.capacity_id, s.turn, s.kind, s.start_ms, s.end_ms, s.end_reason
  from unnest($1::uuid[]) with ordinality as item (id, ordinal)
  join tenure.sessions s on s.id = any (array[item.id])
