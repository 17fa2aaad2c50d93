-- A payload that find_ready.sql left out. ?1 id. Result: payload
select payload from messages where id = ?1
