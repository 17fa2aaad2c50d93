-- Keeps the tickets of this process alive, all in one statement. A ticket that is being changed is skipped: whoever
-- changes it offers it something, removes or refreshes it. A dead ticket that is still there waits again at its place.
-- Parameters: $1 license_id[], $2 machine[]; each pair once; $3 process, $4 expires_ms
-- Lock order: seat_tickets with SKIP LOCKED: it waits for nobody
update tenure.seat_tickets t
   set expires_ms = $4::bigint, process = $3::text
 where t.ctid = any (array(
         select held.ctid
           from unnest($1::uuid[], $2::text[]) as item (license_id, machine)
           join tenure.seat_tickets held on held.license_id = any (array[item.license_id]) and held.machine = item.machine
          where held.slot is null
            for update of held skip locked))
