-- Places a ticket, or refreshes it (its number stays). ?1 tenant, ?2 name, ?3 number, ?4 term, ?5 process, ?6 expires_ms
insert into lease_tickets (tenant, name, number, term, process, expires_ms) values (?1, ?2, ?3, ?4, ?5, ?6)
on conflict (tenant, name, term) do update set expires_ms = excluded.expires_ms, process = excluded.process
