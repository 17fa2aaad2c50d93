-- Gives names back that were claimed by this transaction: their answers are not final.
-- Parameters: $1 name[]; each once
delete from tenure.answers a using unnest($1::text[]) as item (name) where a.name = any (array[item.name])
