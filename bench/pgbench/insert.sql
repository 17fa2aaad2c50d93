-- One row in one statement: the least that a durable create can cost.
\set user random(1, 9000000000000000000)
\set tenant random(1, 16)
insert into lumel_session (user_object_id, tenant_object_id, capacity_id, session_start_utc, session_end_utc, session_kind)
values (rpad(to_hex(:user::bigint), 32, '0')::uuid, lpad(to_hex(:tenant::bigint), 32, '1')::uuid,
        lpad(to_hex(:tenant::bigint), 32, '2')::uuid, now(), now() + interval '30 days', 1);
