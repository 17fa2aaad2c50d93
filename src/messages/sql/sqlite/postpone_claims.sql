-- When to look at a claim again. ?1 tenant, ?2 claim, ?3 look_ms
update message_claims set look_ms = ?3 where tenant = ?1 and claim = ?2
