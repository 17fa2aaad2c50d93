-- Puts a dead letter away for good. ?1 id
delete from dead_letters where id = ?1
