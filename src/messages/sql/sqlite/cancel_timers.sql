-- Takes back a timer that has not fired; a run of a job is none. ?1 id, ?2 tenant. Result: 1, or no row
delete from messages
 where id = ?1 and pos = 0 and fence = 0 and headers not like '{"tenure-job"%'
   and exists (select 1 from topics t where t.topic_id = messages.topic_id and t.tenant = ?2)
returning 1
