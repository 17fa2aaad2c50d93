-- A licence as people see it. ?1 id, ?2 now_ms
-- Result: id, tenant, name, state, seats, ttl_ms, interval_ms, grace_ms, valid_from_ms, valid_until_ms, metadata,
-- key_hint, revision, created_ms, row_count, held, holders, peak, peak_ms, last_slot, next_ticket, fence,
-- last_ms, look_ms, longest_ms, born, incarnation, log_seq, log_hash, log_base,
-- offered, waiting, and the store's incarnation, incarnation_ms, freeze_ms, and lag_ms of the ledger
select l.id, l.tenant, l.name, l.state, l.seats, l.ttl_ms, l.interval_ms, l.grace_ms, l.valid_from_ms,
       l.valid_until_ms, l.metadata, l.key_hint, l.revision, l.created_ms, l.row_count, l.held, l.holders, l.peak,
       l.peak_ms, l.last_slot, l.next_ticket, l.fence, l.last_ms, l.look_ms, l.longest_ms, l.born, l.incarnation,
       l.log_seq, l.log_hash, l.log_base,
       (select count(*) from seats s where s.license_id = l.id and s.ticket_id is not null),
       (select count(*) from seat_tickets t where t.license_id = l.id and t.slot is null and t.expires_ms > ?2),
       o.incarnation, o.incarnation_ms, o.freeze_ms, (select g.lag_ms from seat_ledger g)
  from licenses l cross join store o
 where l.id = ?1
