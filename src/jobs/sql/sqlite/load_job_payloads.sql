-- ?1 id. Result: payload
select payload from jobs where id = ?1
