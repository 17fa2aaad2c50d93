-- A process begins to send heartbeats. ?1 worker, ?2 tenant, ?3 owner, ?4 expires_ms
insert into message_workers (worker, tenant, owner, expires_ms) values (?1, ?2, ?3, ?4)
on conflict (worker) do update set expires_ms = excluded.expires_ms
