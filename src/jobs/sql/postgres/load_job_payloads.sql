-- Parameters: $1 id[]; each once. Result: ordinal, payload
select item.ordinal, j.payload
  from unnest($1::uuid[]) with ordinality as item (id, ordinal) join tenure.jobs j on j.id = any (array[item.id])
