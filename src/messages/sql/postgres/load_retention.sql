-- How long topics keep what is finished. Parameters: $1 topic_ids as text of an array
-- Result: topic_id, retention_ms (-1: the default)
-- Locks: none
select t.topic_id, t.retention_ms from tenure.topics t where t.topic_id = any ($1::text::integer[])
