-- Writes down what was finished, for topics that keep it.
-- Parameters: $1 id[], $2 topic_id[], $3 enqueued_ms[], $4 fence[], $5 attempts[], $6 crashes[], $7 correlation_id[],
-- $8 output[], $9 forget_ms[], $10 now_ms; each id once
insert into tenure.finished_messages (id, topic_id, finished_ms, forget_ms, enqueued_ms, fence, attempts, crashes,
                                      correlation_id, output)
select item.id, item.topic_id, $10, item.forget_ms, item.enqueued_ms, item.fence, item.attempts, item.crashes,
       item.correlation_id, item.output
  from unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[], $8::text[],
              $9::bigint[])
       as item (id, topic_id, enqueued_ms, fence, attempts, crashes, correlation_id, output, forget_ms)
on conflict (id) do nothing
