-- Takes a topic for a subscription, unless one has it. Whoever does so at the same moment is waited for.
-- Parameters: $1 tenant, $2 topic, $3 name
-- Result: name when it was taken
-- Lock order: subscriptions, then subscription_topics
insert into tenure.subscription_topics (tenant, topic, name) values ($1::text, $2::text, $3::text)
on conflict do nothing
returning name
