-- Starts sessions. The caller holds the keys' locks and has ended what was active before; the unique index on
-- (user_id, capacity_id, turn) would refuse a second successor of the same session.
-- Parameters: $1 id[], $2 tenant[], $3 user_id[], $4 capacity_id[], $5 turn[], $6 kind[], $7 start_ms[], $8 end_ms[],
-- $9 end_reason[] (0: open; a session that was upgraded within one batch is born ended)
-- Lock order: under the locks of lock_keys.sql
insert into tenure.sessions (id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason)
select id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, nullif(end_reason, 0)
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
              $9::bigint[]) as item (id, tenant, user_id, capacity_id, turn, kind, start_ms, end_ms, end_reason)
