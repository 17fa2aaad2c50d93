-- Deletes a subscription. Parameters: $1 tenant, $2 name
-- Lock order: under the lock of lock_subscriptions.sql
delete from tenure.subscriptions where tenant = $1::text and name = $2::text
