-- What the bots are is not changed while this transaction is under way; whoever reads them does so in a later statement.
-- Lock order: after idempotency names, before everything of the webhooks and queues
select pg_advisory_xact_lock_shared(hashtext('tenure.bots'))::text
