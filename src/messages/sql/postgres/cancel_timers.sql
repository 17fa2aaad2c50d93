-- Takes back timers that have not fired; a run of a job is none. Parameters: $1 id[], $2 tenant[]; each id once, ascending
-- Result: ordinal of each that was taken back
-- `pos < 1` and not `pos = 0`: the index of all that wait is no way to find a few ids.
-- Lock order: messages in ascending id; one that is promoted at this moment is waited for, and then has fired
delete from tenure.messages m
 using unnest($1::uuid[], $2::text[]) with ordinality as item (id, tenant, ordinal), tenure.topics t
 where m.id = any (array[item.id]) and m.pos < 1 and m.fence = 0 and not starts_with(m.headers, '{"tenure-job"') and t.topic_id = m.topic_id and t.tenant = item.tenant
returning item.ordinal
