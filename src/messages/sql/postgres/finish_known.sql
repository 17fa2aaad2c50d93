-- Finishes messages of one tenant for those who hold them, as far as they are of topics that this process knows: nearly
-- always all of them. What it leaves is left to finish_messages.sql, which compares each message's topic by itself and
-- takes twice the time.
-- The topics are only a hint: their tenant is asked here, once. The ids are the index condition, and (id, fence) is looked
-- up in a hashed set; `coalesce` keeps the planner from making a join of it, and `is not distinct from` from reading all
-- topics of a tenant (docs/decisions/0009). After waiting for somebody who changed the row all conditions are computed
-- anew on what that one left.
-- Parameters: $1 id[], $2 fence[], $3 topic_ids as text of an array, $4 tenant; each (id, fence) once
-- Result: id, fence, topic_id, claimed_ms, enqueued_ms, attempts, crashes, correlation_id, trace, worker of a followed
-- message (null: it is not followed, src/messages/followers.hpp); no row where the fence is not of the claim under way, nor where another transaction has locked the message (finish_messages.sql)
-- Lock order: messages in ascending order of the ids, each locked by its delete; of the places where the planner takes a
-- bitmap, on a table that was never analysed. Whoever would wait in a circle with us is ended by PostgreSQL and tries again
delete from tenure.messages m
 where m.id = any ($1::uuid[]) and m.lease_until_ms > 0
   and (m.xmax = 0 or m.xmax = m.xmin or m.xmax = pg_current_xact_id_if_assigned()::xid)
   and m.topic_id = any (array(select t.topic_id from tenure.topics t
                                where t.topic_id = any ($3::text::integer[])
                                  and t.tenant is not distinct from $4::text))
   and coalesce((m.id, m.fence) in (select item.id, item.fence
                                      from unnest($1::uuid[], $2::bigint[]) as item (id, fence)), false)
returning m.id, m.fence, m.topic_id, m.claimed_ms, m.enqueued_ms, m.attempts, m.crashes, m.correlation_id, m.trace,
          case when starts_with(m.headers, '{"tenure-job"') then m.worker end
