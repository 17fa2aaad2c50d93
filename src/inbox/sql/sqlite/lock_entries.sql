-- The write transaction is the lock: every entry of the batch has it. ?1 tenant, ?2 source, ?3 message_id. Result: 1
select 1 where ?1 is not null and ?2 is not null and ?3 is not null
