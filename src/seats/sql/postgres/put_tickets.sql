-- Places tickets, or writes them as they are now.
-- Parameters: $1 license_id[], $2 number[]; each pair once; $3 ticket_id[], $4 machine[], $5 person[], $6 process[],
-- $7 expires_ms[], $8 slot[] (0: none), $9 placed_ms[]
-- Lock order: after the seats; a refresh that has one locked ends without waiting for anything
insert into tenure.seat_tickets (license_id, number, ticket_id, machine, person, process, expires_ms, slot, placed_ms)
select license_id, number, ticket_id, machine, person, process, expires_ms, nullif(slot, 0), placed_ms
  from unnest($1::uuid[], $2::bigint[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[])
       as item (license_id, number, ticket_id, machine, person, process, expires_ms, slot, placed_ms)
on conflict (license_id, number) do update
   set process = excluded.process, expires_ms = excluded.expires_ms, slot = excluded.slot
