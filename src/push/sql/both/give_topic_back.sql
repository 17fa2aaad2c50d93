-- Parameters: $1 tenant, $2 topic, $3 name of the subscription that had it
-- Lock order: subscriptions, then subscription_topics
delete from tenure.subscription_topics where tenant = $1::text and topic = $2::text and name = $3::text
