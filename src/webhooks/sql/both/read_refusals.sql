-- How many signatures of a source were refused. Parameters: $1 source. Result: count
-- Locks: none
select r.count from tenure.webhook_refusals r where r.source = $1::text
