-- The document's transactions for one seat: acquire (lock the licence, count, insert, audit), heartbeat, release.
\set license random(1, :licenses)
\set machine random(1, 9000000000000000000)
begin;
select seats from licenses where id = :license for update;
select count(*) from license_sessions
 where license_id = :license and ended_at is null and last_heartbeat_at > now() - interval '6 minutes';
insert into license_sessions (license_id, machine_id, user_agent) values (:license, (:machine)::bigint::text, 'bench')
returning id as session \gset
insert into audit_log (action, session_id, metadata)
values ('LICENSE_SEAT_ACQUIRED', (:session)::text::uuid, '{"machine":"m","person":"p"}');
commit;
update license_sessions set last_heartbeat_at = now() where id = (:session)::text::uuid and ended_at is null;
begin;
update license_sessions set ended_at = now() where id = (:session)::text::uuid and ended_at is null;
insert into audit_log (action, session_id, metadata)
values ('LICENSE_SEAT_RELEASED', (:session)::text::uuid, '{"machine":"m","person":"p"}');
commit;
