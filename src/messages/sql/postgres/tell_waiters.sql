-- Tells the other processes that wait for these topics, when and if this transaction commits; nobody when nobody waits
-- (NOTIFY takes a lock of the whole cluster at commit). A statement of its own, after the messages went in: it sees
-- whoever said before that it waits; whoever says so later looks until this transaction is over (watch.hpp).
-- Parameters: $1 tenant[], $2 topic[] (both '': the one who promotes timers), $3 our process, $4 now_ms
select pg_notify('tenure', 'm' || chr(10) || item.tenant || chr(10) || item.topic)::text
  from unnest($1::text[], $2::text[]) as item (tenant, topic)
 where exists (select from tenure.message_waiters w
                where w.tenant = item.tenant and w.topic = item.topic and w.process <> $3 and w.until_ms > $4)
