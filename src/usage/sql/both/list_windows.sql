-- Closed windows, the latest first. Parameters: $1 only those before this number, $2 how many at most
-- Result: number, start_ms, end_ms, sealed_ms, incarnation, state, last_id, chunks, records, records that are not
-- acknowledged, of them refused
-- Locks: none
select w.number, w.start_ms, w.end_ms, w.sealed_ms, w.incarnation, w.state, w.last_id, w.chunks, w.records,
       (select coalesce(sum(c.records), 0)::bigint from tenure.usage_chunks c where c.number = w.number),
       (select coalesce(sum(c.records), 0)::bigint from tenure.usage_chunks c
         where c.number = w.number and c.refused_ms > 0)
  from tenure.usage_windows w where w.number < $1::bigint order by w.number desc limit $2::bigint
