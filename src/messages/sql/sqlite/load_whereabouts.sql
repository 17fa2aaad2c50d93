-- What became of a message. ?1 id, ?2 tenant
-- Result: fence, lease_until_ms of one that lives (-1: it is dead), reason (of one that is dead)
select m.fence, m.lease_until_ms, 0
  from messages m join topics t on t.topic_id = m.topic_id and t.tenant = ?2
 where m.id = ?1
union all
select d.fence, -1, d.reason from dead_letters d where d.id = ?1 and d.tenant = ?2 and d.redriven_ms = 0
