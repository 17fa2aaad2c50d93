-- How a term ended, if it did. ?1 tenant, ?2 name, ?3 term. Result: reason
select reason from lease_history where tenant = ?1 and name = ?2 and term = ?3
