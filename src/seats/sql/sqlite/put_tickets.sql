-- Places a ticket, or writes it as it is now. ?1 license_id, ?2 number, ?3 ticket_id, ?4 machine, ?5 person, ?6 process,
-- ?7 expires_ms, ?8 slot (0: none), ?9 placed_ms
insert into seat_tickets (license_id, number, ticket_id, machine, person, process, expires_ms, slot, placed_ms)
values (?1, ?2, ?3, ?4, ?5, ?6, ?7, nullif(?8, 0), ?9)
on conflict (license_id, number) do update
   set process = excluded.process, expires_ms = excluded.expires_ms, slot = excluded.slot
