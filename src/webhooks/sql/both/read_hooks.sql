-- The hooks of a source that were heard of last. Parameters: $1 source. Result: hook, delivered_ms, pinged_ms
-- Locks: none
select h.hook, h.delivered_ms, h.pinged_ms from tenure.webhook_hooks h where h.source = $1::text
 order by h.delivered_ms desc, h.hook limit 100
