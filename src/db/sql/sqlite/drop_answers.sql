-- Gives a name back that was claimed by this transaction: its answer is not final. ?1 name
delete from answers where name = ?1
