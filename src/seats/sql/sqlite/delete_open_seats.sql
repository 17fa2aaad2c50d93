-- Deletes so many seats of a licence that are to be had, whichever they are. All others that are open were deleted or
-- written before, in this transaction. ?1 license_id, ?2 how many
delete from seats
 where license_id = ?1
   and slot in (select slot from seats where license_id = ?1 and open = 1 order by lapsed_ms, slot limit ?2)
