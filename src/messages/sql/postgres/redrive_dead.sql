-- Puts dead letters back into their lines, with their attempts forgotten; they stay on record as redriven. One that
-- killed its workers keeps one crash, and so its place among the suspects.
-- Parameters: $1 id[], $2 due_ms[], $3 now_ms; each id once
-- Lock order: under the locks of lock_dead.sql; new rows in messages
with again as (
  update tenure.dead_letters d set redriven_ms = $3
    from unnest($1::uuid[], $2::bigint[]) with ordinality as item (id, due_ms, ordinal)
   where d.id = any (array[item.id])
  returning item.ordinal, item.due_ms as due, d.*)
insert into tenure.messages (id, topic_id, line, pos, due_ms, enqueued_ms, fence, lease_until_ms, worker, claimed_ms,
                             attempts, crashes, payload_kind, payload, correlation_id, headers, trace, error)
select id, topic_id, 2 * priority + least(crashes, 1), case when due <= $3 then nextval('tenure.message_positions') else 0 end,
       due, enqueued_ms, fence, 0, 0, 0, 0, least(crashes, 1), payload_kind, payload, correlation_id, headers, trace, error
  from again
 order by ordinal
