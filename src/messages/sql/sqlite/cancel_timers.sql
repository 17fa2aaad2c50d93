-- Takes back a timer that has not fired. ?1 id, ?2 tenant. Result: 1, or no row
delete from messages
 where id = ?1 and pos = 0 and fence = 0
   and exists (select 1 from topics t where t.topic_id = messages.topic_id and t.tenant = ?2)
returning 1
