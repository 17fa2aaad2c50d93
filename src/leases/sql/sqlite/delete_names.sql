-- Deletes a name that was found idle. ?1 tenant, ?2 name
delete from leases where tenant = ?1 and name = ?2
