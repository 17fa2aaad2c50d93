-- Puts a dead letter back into its line, with its attempts forgotten; it stays on record as redriven. One that killed its
-- workers keeps one crash, and so its place among the suspects. ?1 id, ?2 due_ms, ?3 now_ms
insert into messages (id, topic_id, line, pos, due_ms, enqueued_ms, fence, lease_until_ms, worker, claimed_ms, attempts,
                      crashes, payload_kind, payload, correlation_id, headers, trace, error)
select id, topic_id, 2 * priority + min(crashes, 1), case when ?2 <= ?3 then ?3 else 0 end, ?2, enqueued_ms, fence, 0, 0,
       0, 0, min(crashes, 1), payload_kind, payload, correlation_id, headers, trace, error
  from dead_letters where id = ?1;
update dead_letters set redriven_ms = ?3 where id = ?1
