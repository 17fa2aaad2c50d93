-- Completes a message of an ordered queue in the transaction of its effect; the fence is compared at COMMIT. Parameters: $1 session,
-- $2 fence, $3 sequence, $4 state (null: as it was)
-- Locks: as tenure.queue_complete
select tenure.queue_complete($1::uuid, $2::bigint, $3::bigint, $4::bytea)
