-- Where a message of a topic is. ?1 message_id. Result: 0 waiting, 1 claimed, 2 dead, 3 done
select case when exists (select 1 from messages where id = ?1 and lease_until_ms > 0) then 1
            when exists (select 1 from messages where id = ?1) then 0
            when exists (select 1 from dead_letters where id = ?1) then 2 else 3 end
