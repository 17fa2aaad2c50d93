-- Makes the entries of messages that are new; the insert is their lock. Of two transactions that begin a new message at
-- the same moment the second waits here for the first, and then finds it there (load_entries.sql sees it, as a later
-- statement). Entries that are known are left out beforehand: ON CONFLICT alone would wait for a user's transaction that
-- has changed one. Only an entry that was made and then changed by a user's transaction within this statement's time is
-- still waited for, at most as long as lock_timeout.
-- OFFSET 0 keeps the look from becoming a join, which may read the whole table (docs/decisions/0009).
-- Parameters: $1 tenant[], $2 source[], $3 message_id[]; each once
-- Result: tenant, source, message_id of each that was made
-- Lock order: ascending (tenant, source, message_id) among those that are new; nothing is waited for afterwards. So two
-- lanes cannot deadlock; and a lane waits for no user's transaction, so neither can a lane and a user.
insert into tenure.inbox (tenant, source, message_id, state, fence, lease_until_ms, not_before_ms, attempts, crashes,
                          received_ms, updated_ms)
select item.tenant, item.source, item.message_id, 0, 0, 0, 0, 0, 0, 0, 0
  from unnest($1::text[], $2::text[], $3::text[]) as item (tenant, source, message_id)
 where not exists (select from tenure.inbox i
                    where i.tenant = any (array[item.tenant]) and i.source = item.source
                      and i.message_id = item.message_id
                   offset 0)
 order by item.tenant collate "C", item.source collate "C", item.message_id collate "C"
on conflict do nothing
returning tenant, source, message_id
