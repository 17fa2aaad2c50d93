-- The revisions of licences. Parameters: $1 license_id[]; each once
-- Result: ordinal, revision; no row: there is no such licence
-- Locks: none
select item.ordinal, l.revision
  from unnest($1::uuid[]) with ordinality as item (id, ordinal)
  join tenure.licenses l on l.id = any (array[item.id])
