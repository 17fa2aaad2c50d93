-- Deletes a seat that nobody holds. ?1 license_id, ?2 slot
delete from seats where license_id = ?1 and slot = ?2
