-- A claim of which nothing is held any more. ?1 tenant, ?2 claim
delete from message_claims where tenant = ?1 and claim = ?2
