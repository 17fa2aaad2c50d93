-- The document's transaction for a key without a session (section 10.3): lock, find nothing, insert.
\set user random(1, 9000000000000000000)
\set tenant random(1, 16)
begin;
select session_id, session_kind from lumel_session
 where user_object_id = rpad(to_hex(:user::bigint), 32, '0')::uuid
   and capacity_id = lpad(to_hex(:tenant::bigint), 32, '2')::uuid and is_active for update;
insert into lumel_session (user_object_id, tenant_object_id, capacity_id, session_start_utc, session_end_utc, session_kind)
values (rpad(to_hex(:user::bigint), 32, '0')::uuid, lpad(to_hex(:tenant::bigint), 32, '1')::uuid,
        lpad(to_hex(:tenant::bigint), 32, '2')::uuid, now(), now() + interval '30 days', 1);
commit;
