-- What messages hang below, as their headers said it. ?1 session_id, ?2 the first sequence, ?3 the first that is not asked for,
-- ?4 rows at most
-- Result: sequence, id, trace; of those that have one
select m.sequence, m.id, m.trace from queue_messages m
 where m.session_id = ?1 and m.sequence >= ?2 and m.sequence < ?3 and m.trace <> '' limit ?4
