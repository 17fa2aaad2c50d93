-- Locks the entries of a batch that are there and that nobody else has locked. Skips the others instead of waiting: a
-- user's transaction that called tenure.inbox_complete may stay open for long. What was skipped is not changed by this
-- batch; each request for it is answered by what is committed (src/inbox/ledger.hpp).
-- Parameters: $1 tenant[], $2 source[], $3 message_id[]; each once
-- Result: ordinal of each that is locked
-- Lock order: inbox with SKIP LOCKED: it waits for nobody
select item.ordinal
  from unnest($1::text[], $2::text[], $3::text[]) with ordinality as item (tenant, source, message_id, ordinal)
  join tenure.inbox i on i.tenant = any (array[item.tenant]) and i.source = item.source
                       and i.message_id = item.message_id
   for update of i skip locked
