-- Makes messages ready that waited for the word of who follows them. Parameters: $1 id[], $2 now_ms. Result: tenant, topic
-- Lock order: under the locks of whoever follows them
update tenure.messages m set pos = nextval('tenure.message_positions'), due_ms = $2
  from tenure.topics t
 where m.id = any ($1::uuid[]) and m.pos < 1 and m.fence = 0 and t.topic_id = m.topic_id
returning t.tenant, t.name
