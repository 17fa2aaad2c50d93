insert into lumel_session (user_object_id, tenant_object_id, capacity_id, session_start_utc, session_end_utc, session_kind)
select md5(n::bigint::text)::uuid, lpad(to_hex(n % 16), 32, '1')::uuid, lpad(to_hex(n::bigint % 16), 32, '2')::uuid,
       now(), now() + interval '30 days', 1
  from generate_series(1, :keys) as n;
vacuum analyze lumel_session;
