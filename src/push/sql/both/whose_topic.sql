-- Which subscription has a topic. Parameters: $1 tenant, $2 topic. Result: name
-- Locks: none
select name from tenure.subscription_topics where tenant = $1::text and topic = $2::text
