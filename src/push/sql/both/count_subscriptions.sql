-- Figures of all tenants, for gauges. Result: how many, of them disabled, backing off, with an open circuit
-- Parameters: $1 failures from which on a circuit is open
-- Locks: none
select count(*), coalesce(sum(case when enabled = 0 or gone_ms > 0 then 1 else 0 end), 0),
       coalesce(sum(case when enabled = 1 and gone_ms = 0 and failures > 0 and failures < $1::bigint then 1 else 0 end), 0),
       coalesce(sum(case when enabled = 1 and gone_ms = 0 and failures >= $1::bigint then 1 else 0 end), 0)
  from tenure.subscriptions
