-- Gives messages whose time has come their place in their line, in the order in which they were due. Those that another
-- process promotes (or somebody cancels) at this moment are passed over.
-- Parameters: $1 now_ms, $2 limit
-- Result: tenant, topic, due_ms
-- Lock order: messages FOR UPDATE SKIP LOCKED, never waiting
with due as materialized (
  select id, due_ms from tenure.messages where pos = 0 and due_ms <= $1 order by due_ms limit $2 for update skip locked),
placed as materialized (
  select id, nextval('tenure.message_positions') as pos from (select id from due order by due_ms) as in_order)
update tenure.messages m set pos = placed.pos
  from placed, tenure.topics t
 where m.id = any (array[placed.id]) and t.topic_id = m.topic_id
returning t.tenant, t.name, m.due_ms
