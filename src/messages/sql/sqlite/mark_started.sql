-- A worker begins with messages of its claim. ?1 tenant, ?2 claim, ?3 started
update message_claims set started = ?3 where tenant = ?1 and claim = ?2 and started < ?3
