-- Dead letters by what they are like. ?1 tenant, ?2 topic ('': any), ?3 reason (0: any), ?4 limit. Result: id, topic, whether it is followed
select d.id, t.name, d.headers like '{"tenure-job"%'
  from dead_letters d join topics t on t.topic_id = d.topic_id
 where d.tenant = ?1 and d.redriven_ms = 0 and (?2 = '' or t.name = ?2) and (?3 = 0 or d.reason = ?3)
 order by d.id
 limit ?4
