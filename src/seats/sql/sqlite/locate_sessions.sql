-- Which licence a holding is of: by its seat, else by the log. ?1 session_id. Result: license_id
select coalesce((select license_id from seats where session_id = ?1),
                (select license_id from seat_log where session_id = ?1 limit 1))
