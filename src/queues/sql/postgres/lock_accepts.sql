-- An accept under an id of the client's is repeated until it is answered: one at a time, so that the second finds what
-- the first one holds. Parameters: $1 the id as text[]; each once
-- Lock order: as idempotency names, before the bots lock; ascending
select item.ordinal, pg_advisory_xact_lock(hashtextextended('tenure.accept' || item.name, 0))::text
  from (select * from unnest($1::text[]) with ordinality as given (name, ordinal) order by hashtextextended('tenure.accept' || name, 0)) item
