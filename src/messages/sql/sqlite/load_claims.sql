-- What was handed out under a claim id. ?1 tenant, ?2 claim. Result: messages
select messages from message_claims where tenant = ?1 and claim = ?2
