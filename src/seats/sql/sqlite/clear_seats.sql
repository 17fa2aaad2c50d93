-- Takes machine and session out of a seat that is written later: each of the two stands in one seat at most.
-- ?1 license_id, ?2 slot
update seats set session_id = null, machine = null, ticket_id = null where license_id = ?1 and slot = ?2
