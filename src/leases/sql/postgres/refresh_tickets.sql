-- Keeps the tickets of this process alive, all in one statement. A ticket that is being changed is skipped: whoever
-- changes it grants, removes or refreshes it. A dead ticket that is still there gets its place back.
-- Parameters: $1 tenant[], $2 name[], $3 term[]; each once; $4 expires_ms
-- Lock order: lease_tickets with SKIP LOCKED: it waits for nobody
update tenure.lease_tickets t
   set expires_ms = $4::bigint
 where t.ctid = any (array(
         select held.ctid
           from unnest($1::text[], $2::text[], $3::uuid[]) as item (tenant, name, term)
           join tenure.lease_tickets held
             on held.tenant = any (array[item.tenant]) and held.name = item.name
            and held.term = item.term
            for update of held skip locked))
