-- What the receiver has not acknowledged. Result: records, of them refused, the oldest window's end_ms (0: none)
-- Locks: none
select coalesce(sum(c.records), 0)::bigint, coalesce(sum(c.records) filter (where c.refused_ms > 0), 0)::bigint,
       coalesce((select end_ms from tenure.usage_windows where number = (select min(number) from tenure.usage_chunks)), 0)
  from tenure.usage_chunks c
