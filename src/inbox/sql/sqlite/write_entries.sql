-- Writes an entry. ?1 tenant, ?2 source, ?3 message_id, ?4 state, ?5 fence, ?6 term (nil UUID: none), ?7 hash ('': none),
-- ?8 lease_until_ms, ?9 not_before_ms, ?10 attempts, ?11 crashes, ?12 result ('': none), ?13 error ('': none),
-- ?14 received_ms, ?15 updated_ms
insert into inbox (tenant, source, message_id, state, fence, term, hash, lease_until_ms, not_before_ms, attempts, crashes,
                   result, error, received_ms, updated_ms)
values (?1, ?2, ?3, ?4, ?5, nullif(?6, zeroblob(16)), nullif(?7, ''), ?8, ?9, ?10, ?11, nullif(?12, ''), nullif(?13, ''),
        ?14, ?15)
on conflict (tenant, source, message_id) do update
   set state = excluded.state, fence = excluded.fence, term = excluded.term, hash = excluded.hash,
       lease_until_ms = excluded.lease_until_ms, not_before_ms = excluded.not_before_ms, attempts = excluded.attempts,
       crashes = excluded.crashes, result = excluded.result, error = excluded.error, received_ms = excluded.received_ms,
       updated_ms = excluded.updated_ms
