-- Tells every process that listens (db/feed.hpp), when and if this transaction commits. Each payload once is enough:
-- PostgreSQL drops duplicates within a transaction. At most 8000 bytes each.
-- NOTIFY takes a lock of the whole cluster at commit (docs/ground.md, Waiting): only for those who are known to wait.
-- Parameters: $1 payload[]
select pg_notify('tenure', payload)::text from unnest($1::text[]) as item (payload)
