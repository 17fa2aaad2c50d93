-- Claims that it is time to look at. ?1 now_ms, ?2 limit. Result: tenant, claim, started, messages
select tenant, claim, started, messages from message_claims where look_ms <= ?1 and length(claim) = 16 order by look_ms limit ?2
