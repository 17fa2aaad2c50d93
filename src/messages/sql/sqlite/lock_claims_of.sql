-- Claims of a worker that is given up. ?1 worker, ?2 limit. Result: tenant, claim, started, messages
select tenant, claim, started, messages from message_claims where worker = ?1 limit ?2
