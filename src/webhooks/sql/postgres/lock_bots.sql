-- Changes what the bots are: waits for whoever routes, sends or accepts by what they were. Not for long: those who come
-- meanwhile wait behind this one.
-- Lock order: after idempotency names, before everything of the webhooks and queues
select set_config('lock_timeout', '2000', true), pg_advisory_xact_lock(hashtext('tenure.bots'))::text
