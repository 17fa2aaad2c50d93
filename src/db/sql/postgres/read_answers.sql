-- Answers that were given before. Parameters: $1 name[]; each once
-- Result: ordinal, body_hash, status, body, location
-- Locks: none
select item.ordinal, a.body_hash, a.status, a.body, a.location
  from unnest($1::text[]) with ordinality as item (name, ordinal)
  join tenure.answers a on a.name = any (array[item.name])
