-- Which licence a holding is of: by its seat, else by the log.
-- Parameters: $1 session_id[]; each once
-- Result: ordinal, license_id
-- Locks: none
select item.ordinal,
       coalesce((select s.license_id from tenure.seats s where s.session_id = any (array[item.session_id])),
                (select g.license_id from tenure.seat_log g where g.session_id = any (array[item.session_id]) limit 1))
  from unnest($1::uuid[]) with ordinality as item (session_id, ordinal)
