-- Puts on record who claims without a heartbeat: for people. ?1 worker, ?2 tenant, ?3 owner, ?4 now_ms
insert into message_owners (worker, tenant, owner, seen_ms) values (?1, ?2, ?3, ?4)
on conflict (worker) do update set seen_ms = excluded.seen_ms
