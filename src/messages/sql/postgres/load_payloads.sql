-- Payloads that find_ready.sql left out. Parameters: $1 id[]; each once. Result: ordinal, payload
-- Lock order: under the locks of find_ready.sql
select item.ordinal, m.payload
  from unnest($1::uuid[]) with ordinality as item (id, ordinal) join tenure.messages m on m.id = any (array[item.id])
