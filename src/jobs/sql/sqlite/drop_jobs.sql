-- ?1 id
delete from jobs where id = ?1
