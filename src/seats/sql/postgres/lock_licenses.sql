-- Locks the licences of a batch, and reads them as whoever had the locks before left them. Whatever gives, frees or deletes
-- a seat, or writes the log, holds this. Parameters: $1 id[]; each once
-- Result: id, tenant, name, state, seats, ttl_ms, interval_ms, grace_ms, valid_from_ms, valid_until_ms,
-- metadata, key_hint, revision, created_ms, row_count, held, holders, peak, peak_ms, last_slot,
-- next_ticket, fence, last_ms, look_ms, longest_ms, born, incarnation, log_seq, log_hash, log_base
-- Lock order: licences ascending, in this one statement, before seats, tickets and the log
select l.id, l.tenant, l.name, l.state, l.seats, l.ttl_ms, l.interval_ms, l.grace_ms, l.valid_from_ms,
       l.valid_until_ms, l.metadata, l.key_hint, l.revision, l.created_ms, l.row_count, l.held, l.holders, l.peak,
       l.peak_ms, l.last_slot, l.next_ticket, l.fence, l.last_ms, l.look_ms, l.longest_ms, l.born, l.incarnation,
       l.log_seq, l.log_hash, l.log_base
  from tenure.licenses l
 where l.id = any ($1::uuid[])
 order by l.id
   for no key update
