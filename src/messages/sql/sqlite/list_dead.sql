-- Dead letters in the order of their ids. ?1 tenant, ?2 topic ('': any), ?3 reason (0: any), ?4 behind this id, ?5 limit
-- Result: id, topic, reason, died_ms, enqueued_ms, attempts, crashes, error, correlation_id, bytes of the payload
select d.id, t.name, d.reason, d.died_ms, d.enqueued_ms, d.attempts, d.crashes, d.error, d.correlation_id,
       length(d.payload)
  from dead_letters d join topics t on t.topic_id = d.topic_id
 where d.tenant = ?1 and d.redriven_ms = 0 and d.id {after} ?4
   and (?2 = '' or t.name = ?2) and (?3 = 0 or d.reason = ?3)
 order by d.id {order}
 limit ?5
