-- Writes down what was handed out. ?1 tenant, ?2 claim, ?3 worker, ?4 look_ms, ?5 started, ?6 messages, ?7 now_ms
insert into message_claims (tenant, claim, worker, claimed_ms, look_ms, started, messages)
values (?1, ?2, ?3, ?7, ?4, ?5, ?6)
