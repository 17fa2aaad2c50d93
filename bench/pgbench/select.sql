-- The session of a key; the keys were made by fill.sql with the same expression.
\set n random(1, :keys)
select session_id, user_object_id, tenant_object_id, capacity_id, session_start_utc, session_end_utc, session_kind
  from lumel_session
 where user_object_id = md5(:n::bigint::text)::uuid
   and capacity_id = lpad(to_hex(:n::bigint % 16), 32, '2')::uuid and is_active;
